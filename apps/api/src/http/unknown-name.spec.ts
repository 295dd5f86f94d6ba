import { describe, expect, it } from 'vitest';
import { SubmitActionBody } from '../gate/submit-action.dto.js';
import { filteredQuery } from '../lists/filters.js';
import { fieldsOf } from './shape.js';
import { nextAfterUnknown } from './unknown-name.js';

const ACTIONS = fieldsOf(filteredQuery('listActions'));
const DEEDS = fieldsOf(filteredQuery('listDeeds'));
const SUBMIT = fieldsOf(SubmitActionBody);

describe('after a name that an endpoint does not have', () => {
  it.each([
    ['a slip', 'stat', ACTIONS, 'state'],
    ['another case', 'Tool', ACTIONS, 'tool'],
    ['a word of another API', 'outcome', ACTIONS, 'decision'],
    ['another bound than there is', 'created_at[lte]', ACTIONS, 'created_at[lt]'],
    ['another bound than there is', 'created_at[gt]', ACTIONS, 'created_at[gte]'],
    ['a day to begin with', 'since', DEEDS, 'issued_at[gte]'],
    ['a day to end with', 'until', DEEDS, 'issued_at[lt]'],
    ['an export’s range', 'since', ['from', 'to'], 'from'],
    ['a page', 'page', ACTIONS, 'cursor'],
    ['the size of a page', 'page_size', DEEDS, 'limit'],
    ['how many deeds to check', 'count', ['last', 'from'], 'last'],
    ['a field', 'arguments', SUBMIT, 'args'],
    ['a field', 'tol', SUBMIT, 'tool'],
  ])('the one that was meant is named: %s, %s', (_, name, known, meant) =>
    expect(nextAfterUnknown(name, known)).toBe(`Did you mean ${meant}?`),
  );

  it('the filters that tell the same are named for the status of an action, which is none', () =>
    expect(nextAfterUnknown('status', ACTIONS)).toBe(
      'The status of an action is no filter: filter by state, decision or verdict.',
    ));

  it('what it takes is named where nothing is close, or the word means nothing there', () => {
    expect(nextAfterUnknown('status', ['from', 'to'])).toBe('It takes from, to.');
    expect(nextAfterUnknown('colour', ['from', 'to'])).toBe('It takes from, to.');
    expect(nextAfterUnknown('__proto__', [])).toBe('It takes none.');
  });
});
