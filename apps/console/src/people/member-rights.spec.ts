import { describe, expect, it } from 'vitest';
import type { Role } from '../kernel/roles.ts';
import { linesOf, rightsOver, rolesToGive } from './member-rights.ts';

type Membership = Parameters<typeof rightsOver>[0];

const member = (role: Role, status: Membership['status'] = 'active', id = 'mem_other'): Membership =>
  ({ id, role, status, email: 'bo@example.com' }) as Membership;
const rights = (of: Membership, role: Role): readonly string[] =>
  Object.entries(rightsOver(of, { role, membership: 'mem_me' })).flatMap(([name, may]) => (may ? [name] : []));

describe('the offered buttons', () => {
  it.each([
    ['viewer', 'owner', []],
    ['viewer', 'viewer', []],
    ['admin', 'viewer', ['remove']],
    ['admin', 'admin', ['remove']],
    ['admin', 'owner', []],
    ['owner', 'viewer', ['change', 'remove']],
    ['owner', 'owner', ['change', 'remove']],
  ] as const)('for a %s, over a %s: %j', (me, role, offered) => {
    expect(rights(member(role), me)).toEqual(offered);
  });

  it.each([
    ['viewer', ['leave']],
    ['admin', ['leave']],
    ['owner', ['change', 'leave']],
  ] as const)('for a %s, over the own membership: %j', (role, offered) => {
    expect(rights(member(role, 'active', 'mem_me'), role)).toEqual(offered);
  });

  it('over an invitation: a new link, and withdrawing it', () => {
    expect(rights(member('admin', 'invited'), 'admin')).toEqual(['invite', 'remove']);
    expect(rights(member('owner', 'invited'), 'admin')).toEqual([]);
    expect(rights(member('viewer', 'invited'), 'viewer')).toEqual([]);
  });

  it('over a removed member: none', () => {
    expect(rights(member('viewer', 'removed'), 'owner')).toEqual([]);
  });
});

it('nobody gives away a role above their own', () => {
  const given = (['viewer', 'admin', 'owner'] as const).map((role) => rolesToGive({ role, membership: 'mem_me' }));
  expect(given).toEqual([[], ['viewer', 'admin'], ['viewer', 'admin', 'owner']]);
});

it('linesOf leaves out empty and repeated lines', () => {
  expect(linesOf(' user:1 \n\nuser:2\nuser:1\n')).toEqual(['user:1', 'user:2']);
});
