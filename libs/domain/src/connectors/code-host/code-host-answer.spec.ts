import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '#libs/crypto';
import { judgeCodeHost, judgeCutOffCodeHost } from './code-host-answer.js';

const NO_HEADERS: Readonly<Record<string, string>> = {};

const judged = (
  status: number,
  body: JsonValue | undefined,
  { tool = 'create_issue', isRead = false, headers = NO_HEADERS, text = JSON.stringify(body ?? '') } = {},
) => {
  const header = (name: string): string | null => headers[name] ?? null;
  const answer = { status, body, isEmpty: body === undefined, text: () => text, header };
  const { status: outcome, errorCode, isPassing } = judgeCodeHost(answer, tool, isRead);
  return [outcome, errorCode, isPassing];
};
const words = (message: string): JsonObject => ({ message, documentation_url: 'https://docs.github.com/rest' });

describe('an answer of the code host', () => {
  it.each([
    [403, words('Resource not accessible by personal access token'), {}, 'upstream_auth_failed'],
    [403, undefined, {}, 'upstream_auth_failed'],
    [403, words('x'), { 'x-ratelimit-remaining': '59' }, 'upstream_auth_failed'],
    [403, words('x'), { 'retry-after': '60' }, 'upstream_rate_limited'],
    [403, words('x'), { 'x-ratelimit-remaining': '0' }, 'upstream_rate_limited'],
    [
      403,
      words('You have exceeded a secondary rate limit.'),
      { 'x-ratelimit-remaining': '4000' },
      'upstream_rate_limited',
    ],
    [403, words('API Rate Limit exceeded for user ID 1.'), {}, 'upstream_rate_limited'],
    [403, words('You have triggered an abuse detection mechanism.'), {}, 'upstream_rate_limited'],
    [429, undefined, {}, 'upstream_rate_limited'],
    [401, words('Bad credentials'), {}, 'upstream_auth_failed'],
    [404, words('Not Found'), {}, 'upstream_not_found'],
    [301, words('Moved Permanently'), {}, 'upstream_error'],
    [307, words('Temporary Redirect'), {}, 'upstream_error'],
    [400, words('Problems parsing JSON'), {}, 'upstream_error'],
    [405, words('Pull Request is not mergeable'), {}, 'upstream_error'],
    [409, words('Head branch was modified.'), {}, 'upstream_error'],
    [410, words('Issues are disabled'), {}, 'upstream_error'],
    [422, words('Validation Failed'), {}, 'upstream_error'],
  ])('%i %j with %j is failed, %s, for reads and writes, and not repeated', (status, body, headers, code) => {
    expect(judged(status, body, { headers })).toEqual(['failed', code, false]);
    expect(judged(status, body, { headers, isRead: true, tool: 'get_issue' })).toEqual(['failed', code, false]);
  });

  it.each([
    'You have exceeded a secondary rate limit.',
    '<html>You have exceeded a secondary rate limit</html>',
    '{"message":"Forbidden","errors":[{"message":"API rate limit exceeded"}]}',
    '{"message":"Blocked.","documentation_url":"https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"}',
  ])('403 %j is a limit, whatever its form', (text) => {
    let body: JsonValue | undefined;
    if (text.startsWith('{')) body = JSON.parse(text) as JsonValue;
    expect(judged(403, body, { text })).toEqual(['failed', 'upstream_rate_limited', false]);
  });

  it.each([
    ['create_issue', 201, { number: 1 }, 'succeeded'],
    ['put_file', 200, { content: {} }, 'succeeded'],
    ['delete_comment', 204, undefined, 'succeeded'],
    ['delete_branch', 204, undefined, 'succeeded'],
    ['create_issue', 204, undefined, 'unknown'],
    ['create_issue', 201, 'text', 'unknown'],
    ['create_issue', 201, [], 'unknown'],
    ['create_issue', 202, { number: 1 }, 'unknown'],
    ['merge_pull_request', 200, { merged: true }, 'succeeded'],
    ['merge_pull_request', 200, { merged: false }, 'unknown'],
    ['merge_pull_request', 202, {}, 'unknown'],
    ['create_issue', 500, {}, 'unknown'],
    ['create_issue', 502, undefined, 'unknown'],
    ['create_issue', 503, {}, 'unknown'],
  ] as const)('to %s with %i %j is %s, and the write is not repeated', (tool, status, body, outcome) => {
    const [ended, , isPassing] = judged(status, body as JsonValue | undefined, { tool });
    expect([ended, isPassing]).toEqual([outcome, false]);
  });

  it.each([
    [200, { a: 1 }, 'succeeded', false],
    [200, [], 'succeeded', false],
    [200, undefined, 'failed', false],
    [202, {}, 'failed', false],
    [500, {}, 'unknown', false],
    [502, {}, 'unknown', true],
    [503, {}, 'unknown', true],
  ] as const)('to a read, %i %j, is %s; repeated: %s', (status, body, outcome, isRepeated) => {
    const [ended, , isPassing] = judged(status, body as JsonValue | undefined, { isRead: true, tool: 'get_issue' });
    expect([ended, isPassing]).toEqual([outcome, isRepeated]);
  });
});

it.each<[number, string | null]>([
  [403, 'upstream_auth_failed'],
  [404, 'upstream_not_found'],
  [409, 'upstream_error'],
  [307, 'upstream_error'],
  [200, null],
  [502, null],
])('an answer %d without its body says %s of a write', (status, code) => {
  const head = { status, body: undefined, isEmpty: false, text: () => '', header: () => null };
  expect(judgeCutOffCodeHost(head)?.errorCode ?? null).toBe(code);
  expect(judgeCutOffCodeHost(head)?.status ?? 'failed').toBe('failed');
});

it('a rate limit is known by its headers alone', () =>
  expect(
    judgeCutOffCodeHost({
      status: 403,
      body: undefined,
      isEmpty: false,
      text: () => '',
      header: (name) => (name === 'retry-after' ? '60' : null),
    }),
  ).toMatchObject({ errorCode: 'upstream_rate_limited' }));
