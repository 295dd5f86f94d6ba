import { describe, expect, it } from 'vitest';

import { retryAfterMs } from './retry-after.js';

const nowMs = Date.UTC(2026, 9, 1, 12, 0, 0);

describe('Retry-After (RFC 9110; rule EXEC-3)', () => {
  it.each<[string | undefined, number | null]>([
    ['0', 0],
    ['3', 3_000],
    [' 3 ', 3_000],
    ['99999', 99_999_000],
    ['Thu, 01 Oct 2026 12:00:04 GMT', 4_000],
    ['Thu, 01 Oct 2026 11:00:00 GMT', 0],
    [undefined, null],
    ['', null],
    ['-1', null],
    ['1.5', null],
    ['1e3', null],
    ['soon', null],
    ['99999999999999', null],
    ['2026-10-01T12:00:04Z', null],
    ['Thu, 99 Oct 2026 12:00:04 GMT', null],
  ])('%j asks for %j ms', (header, expected) => expect(retryAfterMs(header, nowMs)).toBe(expected));
});
