import { describe, expect, it } from 'vitest';
import { redactedPaths } from './redacted-paths.js';

describe('paths of what was redacted', () => {
  it('lead to each text that holds the mark, whole or in part', () => {
    const result = {
      status: 200,
      headers: { location: 'https://crm.example.com/?key=[redacted]' },
      body: { token: '[redacted]', items: [{ id: '1' }, { id: '[redacted]' }], name: 'Ada' },
    };
    expect(redactedPaths(result)).toEqual(['headers.location', 'body.token', 'body.items[1].id']);
  });

  it('lead to a member whose name was redacted', () => {
    expect(redactedPaths({ body: { '[redacted]': { a: 1 }, 'x-[redacted]': '[redacted]' } })).toEqual([
      'body.[redacted]',
      'body.x-[redacted]',
    ]);
  });

  it.each([null, 'plain', 7, true, [], {}, { removed: true }])('are none in %j', (result) => {
    expect(redactedPaths(result)).toEqual([]);
  });

  it('are a hundred at most', () => {
    expect(redactedPaths({ body: Array.from({ length: 101 }, () => '[redacted]') })).toHaveLength(100);
  });
});
