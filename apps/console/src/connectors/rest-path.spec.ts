import { describe, expect, it } from 'vitest';
import { addedTo, type DraftObject } from './draft.ts';
import { undescribed, withPathArguments } from './rest-path.ts';

describe('the placeholders of a path that are no arguments yet', () => {
  it.each([
    ['/customers/{id}', [], ['id']],
    ['/customers/{id}/notes/{note}', ['id'], ['note']],
    ['/a/{id}/b/{id}', [], ['id']],
    ['/a/x{id}', [], []],
    ['/a/{', [], []],
  ])('%s, with %j described: %j', (path, described, missing) => expect(undescribed(path, described)).toEqual(missing));
});

describe('a tool whose path is typed', () => {
  const tool = (path: string, args?: DraftObject['members'][string]): DraftObject => ({
    members: { path, ...(args === undefined ? {} : { args }) },
    others: {},
  });
  const named = ({ members: { args } }: DraftObject) =>
    typeof args === 'object' && 'rows' in args ? args.rows.map(({ name, value }) => [name, value]) : [];
  const bare = { members: { in: 'path', type: 'string' }, others: {} };

  it('gets the placeholders as arguments, without a further press', () =>
    expect(named(withPathArguments(tool('/customers/{id}/notes/{note}')))).toEqual([
      ['id', bare],
      ['note', bare],
    ]));

  it('keeps no argument of a partly typed placeholder', () => {
    const typed = withPathArguments(tool('/customers/{i}'));
    const further = withPathArguments({ ...typed, members: { ...typed.members, path: '/customers/{id}' } });
    expect(named(further)).toEqual([['id', bare]]);
    const emptied = withPathArguments({ ...further, members: { ...further.members, path: '/customers' } });
    expect(named(emptied)).toEqual([]);
  });

  it('keeps a described argument, and arguments outside of the path', () => {
    const described = { members: { ...bare.members, description: 'Customer id' }, others: {} };
    const query = { members: { in: 'query', type: 'string' }, others: {} };
    const args = addedTo(addedTo([], 'id', described).rows, 'q', query);
    const after = withPathArguments(tool('/customers/{customer}', args));
    expect(named(after).map(([name]) => name)).toEqual(['id', 'q', 'customer']);
  });

  it('is the same object if its arguments do not change', () => {
    const once = withPathArguments(tool('/customers/{id}'));
    expect(withPathArguments(once)).toBe(once);
  });
});
