import { describe, expect, it } from 'vitest';

import { isRetriedStatus, retryDelayMs, verdictOfStatus } from './upstream-mapping.js';

describe('what the status of an answer means (rule EXEC-4)', () => {
  it.each([
    [200, 'succeeded', null],
    [201, 'succeeded', null],
    [204, 'succeeded', null],
    [299, 'succeeded', null],
    [400, 'failed', 'upstream_error'],
    [401, 'failed', 'upstream_auth_failed'],
    [403, 'failed', 'upstream_auth_failed'],
    [404, 'failed', 'upstream_not_found'],
    [409, 'failed', 'upstream_error'],
    [422, 'failed', 'upstream_error'],
    [429, 'failed', 'upstream_rate_limited'],
    [500, 'unknown', 'upstream_error'],
    [502, 'unknown', 'upstream_error'],
    [503, 'unknown', 'upstream_error'],
    [599, 'unknown', 'upstream_error'],
  ])('%i is %s, %s', (status, outcome, errorCode) => {
    expect(verdictOfStatus(status, false)).toMatchObject({ status: outcome, errorCode });
    expect(verdictOfStatus(status, true)).toMatchObject({ status: outcome, errorCode });
  });

  it('a redirect that is not followed: a read failed, a write may have run', () => {
    expect(verdictOfStatus(302, true)).toMatchObject({ status: 'failed', errorCode: 'upstream_error' });
    expect(verdictOfStatus(303, false)).toMatchObject({ status: 'unknown', errorCode: 'upstream_error' });
  });
});

describe('retries (rule EXEC-3)', () => {
  const ask = { attempt: 1, remainingMs: 10_000, retryAfterMs: null, chance: 0.5 } as const;

  it('429, 502, 503 and 504 are retried, others are not', () =>
    expect([200, 400, 404, 429, 500, 501, 502, 503, 504, 505].filter(isRetriedStatus)).toEqual([429, 502, 503, 504]));

  it.each([
    [1, 0, 160],
    [1, 0.5, 200],
    [1, 1, 240],
    [2, 0, 320],
    [2, 1, 480],
  ] as const)(
    'after attempt %i the wait is 200 ms times 2 to the n, plus or minus 20 %%',
    (attempt, chance, expected) => expect(retryDelayMs({ ...ask, attempt, chance })).toBe(expected),
  );

  it('there is no fourth attempt', () => expect(retryDelayMs({ ...ask, attempt: 3 })).toBeNull());

  it('Retry-After is honoured up to 5 s', () => {
    expect(retryDelayMs({ ...ask, retryAfterMs: 3_000 })).toBe(3_000);
    expect(retryDelayMs({ ...ask, retryAfterMs: 99_999_000 })).toBe(5_000);
    expect(retryDelayMs({ ...ask, retryAfterMs: 0 })).toBe(200);
  });

  it('never past the deadline', () => {
    expect(retryDelayMs({ ...ask, remainingMs: 200 })).toBeNull();
    expect(retryDelayMs({ ...ask, retryAfterMs: 5_000, remainingMs: 4_000 })).toBeNull();
  });
});
