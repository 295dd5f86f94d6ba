import { describe, expect, it } from 'vitest';
import { changedPlaces } from './changes.ts';

describe('where two configs differ', () => {
  it('is given by the names of the API', () =>
    expect(
      changedPlaces(
        { base_url: 'a', tools: [{ name: 'get', args: { id: { in: 'path' } } }, { name: 'old' }] },
        { base_url: 'b', tools: [{ name: 'get', args: { id: { in: 'query' } } }], timeout_ms: 1 },
      ),
    ).toEqual(['config.base_url', 'config.tools[0].args.id.in', 'config.tools[1]', 'config.timeout_ms']));
  it('is empty for equal configs', () => expect(changedPlaces({ a: [1, null] }, { a: [1, null] })).toEqual([]));
  it('is cut to the first places', () => {
    const list = (value: number) => ({ list: Array.from({ length: 20 }, () => value) });
    expect(changedPlaces(list(1), list(2)).slice(-2)).toEqual(['config.list[7]', '…']);
  });
});
