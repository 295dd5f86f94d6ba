import { describe, expect, it } from 'vitest';
import { errorOf } from './errors.ts';

const answered = (headers: Readonly<Record<string, string>>): Response => new Response(null, { status: 429, headers });
const BODY = { error: { code: 'rate_limited', message: 'Too many requests.', request_id: 'req_1' } };

describe('an error of the API', () => {
  it('holds the seconds of Retry-After', () => {
    expect(errorOf(BODY, answered({ 'Retry-After': '17' }))).toMatchObject({ code: 'rate_limited', retryAfterS: 17 });
  });

  it.each(['', '-1', '1.5', 'Fri, 27 Nov 2026 20:00:00 GMT', '1000000'])(
    'says nothing of it where a header is %j',
    (header) => {
      expect(errorOf(BODY, answered({ 'Retry-After': header })).retryAfterS).toBeNull();
    },
  );

  it('is readable if a proxy answered without an envelope', () => {
    const error = errorOf('<html>', new Response(null, { status: 502 }));
    expect([error.code, error.message]).toEqual(['unknown', 'The service answered with 502. Try again in a moment.']);
  });
});
