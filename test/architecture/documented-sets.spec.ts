import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PUBLIC_EVENT_TYPES } from '#libs/domain/events';
import { DECISION_OUTCOMES } from '#libs/domain/kernel';
import { ROLES } from '#libs/domain/people';
import { ROOT } from '../support/service.js';

const page = (name: string): string => readFileSync(join(ROOT, 'docs', name), 'utf8');

const codeIn = (text: string): ReadonlySet<string> =>
  new Set([...text.matchAll(/`([^`\n]+)`/g)].map(([, span]) => span ?? ''));

it('docs/events.md tells of every type of public event', () => {
  const told = codeIn(page('events.md'));
  expect(PUBLIC_EVENT_TYPES.filter((type) => !told.has(type))).toEqual([]);
});

it('docs/sign-in.md says of every role what it may', () => {
  const [, columns = ''] = /^## Roles\n\n\| may \|(.+)\|$/m.exec(page('sign-in.md')) ?? [];
  expect(columns.split('|').map((column) => column.trim())).toEqual([...ROLES, 'admin key']);
});

it('the page that an invitation leads to names every role', () => {
  const page = readFileSync(join(ROOT, 'apps/api/src/pages/sign-in/files/auth.js'), 'utf8');
  const [, names = ''] = /^const ROLES = \{ (.+) \};$/m.exec(page) ?? [];
  expect([...names.matchAll(/(\w+): /g)].map(([, role]) => role)).toEqual([...ROLES]);
});

it.each(ROLES)('the glossary and the policy language know the role %s', (role) => {
  expect(page('glossary.md')).toMatch(new RegExp(`^\\| role \\|.*\\b${role}\\b`, 'm'));
  expect(page('policy-language.md')).toContain(`role:${role}`);
});

it.each(DECISION_OUTCOMES)(
  'the glossary, the policy language and the format of deeds know the outcome %s',
  (outcome) => {
    expect(page('glossary.md')).toMatch(new RegExp(`^\\| decision \\|.*\`${outcome}\``, 'm'));
    for (const key of ['default', 'decision']) {
      expect(page('policy-language.md')).toMatch(new RegExp(`^\\| \`${key}\` \\|.*\`${outcome}\``, 'm'));
    }
    expect(page('deed-format.md')).toMatch(new RegExp(`\\| \`outcome\` \\|.*\`"${outcome}"\``, 'm'));
  },
);
