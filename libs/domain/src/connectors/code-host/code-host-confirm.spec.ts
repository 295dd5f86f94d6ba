import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '#libs/crypto';
import { judgeConfirmation, planConfirmation, readBackTermsOf } from './code-host-confirm.js';
import { CODE_HOST_TOOLS } from './code-host-tools.js';
import { blobShaOf } from './git-blob.js';

const action = 'act_1';
const MARK = `<!-- ${action} -->`;
const SHA = 'a'.repeat(40);
const OTHER = 'b'.repeat(40);
const NOW = Date.parse('2026-10-02T12:00:00.000Z');
const repository = 'acme/shop';
const answered = (body: JsonObject): JsonObject => ({ status: 201, headers: {}, body });

it('every tool that changes something is confirmed, and no other', () =>
  expect(CODE_HOST_TOOLS.filter(({ name }) => readBackTermsOf(name) !== null).map(({ name }) => name)).toEqual(
    CODE_HOST_TOOLS.filter(({ sideEffect }) => sideEffect !== 'read').map(({ name }) => name),
  ));

it.each([
  ['', 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'],
  ['hello\n', 'ce013625030ba8dba906f756967f9e9ca394464a'],
])('the sha of %j is the one that git gives it', (content, sha) => expect(blobShaOf(content)).toBe(sha));

describe('the read that confirms a write', () => {
  const SINCE = 'since=2026-10-01T12:00:00Z';
  it.each<[string, JsonObject, JsonObject | null, string]>([
    ['create_issue', {}, answered({ number: 7 }), '/issues/7'],
    ['create_issue', {}, null, `/issues?state=all&sort=created&direction=desc&${SINCE}&per_page=100`],
    [
      'create_issue',
      {},
      answered({ number: '7/../8' }),
      `/issues?state=all&sort=created&direction=desc&${SINCE}&per_page=100`,
    ],
    ['update_issue', { number: 7 }, null, '/issues/7'],
    ['create_comment', { number: 7 }, answered({ id: 9 }), '/issues/comments/9'],
    ['create_comment', { number: 7 }, null, `/issues/comments?sort=created&direction=desc&${SINCE}&per_page=100`],
    ['create_branch', { branch: 'fix/#1' }, null, '/git/ref/heads/fix/%231'],
    ['put_file', { branch: 'fix', path: 'a b' }, null, '/contents/a%20b?ref=refs/heads/fix'],
    ['create_pull_request', { head: 'fix' }, answered({ number: 3 }), '/pulls/3'],
    [
      'create_pull_request',
      { head: 'fix' },
      null,
      '/pulls?head=acme:fix&state=all&sort=created&direction=desc&per_page=100',
    ],
    ['merge_pull_request', { number: 3 }, null, '/pulls/3'],
    ['delete_comment', { comment: 9 }, null, '/issues/comments/9'],
    ['delete_file', { branch: 'fix', path: 'a' }, null, '/contents/a?ref=refs/heads/fix'],
    ['delete_branch', { branch: 'fix' }, null, '/git/matching-refs/heads/fix'],
  ])('of %s with %j after %j is %s', (toolName, args, result, line) => {
    const plan = planConfirmation({ toolName, args: { repository, ...args }, action, result }, NOW);
    if (typeof plan === 'string') throw new Error(plan);
    const query = plan.query.map((pair) => pair.join('=')).join('&');
    expect(`${plan.path}${query === '' ? '' : `?${query}`}`).toBe(`/repos/acme/shop${line}`);
  });
});

const judged = (
  kind: 'object' | 'search' | 'absence',
  toolName: string,
  args: JsonObject,
  body: JsonValue | undefined,
): readonly string[] => {
  const write = { toolName, args: { repository, ...args }, action, result: null };
  const { verdict, reasons } = judgeConfirmation({ kind }, write, body);
  return [verdict, ...reasons];
};

describe('what is read of a write', () => {
  const issue = { title: 'T', body: 'b' };
  const pull = { head: 'fix', base: 'main', title: 'T' };
  const pullSeen = { title: 'T', body: MARK, head: { ref: 'fix' }, base: { ref: 'main' }, draft: false };
  const merge = { number: 3, head_sha: SHA, base: 'main' };
  const file = { branch: 'fix', path: 'a', content: 'hello\n' };
  it.each<[string, JsonObject, JsonObject, readonly string[]]>([
    ['create_issue', issue, { title: 'T', body: `b\r\n\r\n${MARK}\r\n` }, ['VERIFIED']],
    ['create_issue', issue, { title: 'T', body: 'b\n\n<!-- act_2 -->' }, ['MISMATCH', 'body']],
    ['create_issue', issue, { title: 'U', body: `b\n\n${MARK}` }, ['MISMATCH', 'title']],
    ['create_issue', { title: ' T ' }, { title: 'T', body: MARK }, ['VERIFIED']],
    [
      'update_issue',
      { number: 7, state: 'closed' },
      { number: 7, state: 'closed', title: 'x', body: null },
      ['VERIFIED'],
    ],
    ['update_issue', { number: 7, state: 'closed' }, { number: 7, state: 'open' }, ['MISMATCH', 'state']],
    [
      'create_comment',
      { number: 7, body: 'b' },
      { body: `b\n\n${MARK}`, issue_url: 'https://x/issues/7' },
      ['VERIFIED'],
    ],
    [
      'create_comment',
      { number: 7, body: 'b' },
      { body: `b\n\n${MARK}`, issue_url: 'https://x/issues/8' },
      ['MISMATCH', 'number'],
    ],
    ['create_branch', { branch: 'fix', sha: SHA }, { ref: 'refs/heads/fix', object: { sha: SHA } }, ['VERIFIED']],
    [
      'create_branch',
      { branch: 'fix', sha: SHA },
      { ref: 'refs/heads/fix', object: { sha: OTHER } },
      ['MISMATCH', 'sha'],
    ],
    ['put_file', file, { path: 'a', sha: blobShaOf('hello\n') }, ['VERIFIED']],
    ['put_file', file, { path: 'a', sha: OTHER }, ['MISMATCH', 'sha']],
    ['create_pull_request', pull, pullSeen, ['VERIFIED']],
    ['create_pull_request', pull, { ...pullSeen, base: { ref: 'dev' }, draft: true }, ['MISMATCH', 'base', 'draft']],
    ['merge_pull_request', merge, { number: 3, merged: true, head: { sha: SHA }, base: { ref: 'main' } }, ['VERIFIED']],
    [
      'merge_pull_request',
      merge,
      { number: 3, merged: false, head: { sha: SHA }, base: { ref: 'main' } },
      ['MISMATCH', 'merged'],
    ],
    [
      'merge_pull_request',
      merge,
      { number: 3, merged: true, head: { sha: OTHER }, base: { ref: 'dev' } },
      ['MISMATCH', 'head_sha', 'base'],
    ],
  ])('%s with %j as %j', (toolName, args, body, verdict) =>
    expect(judged('object', toolName, args, body)).toEqual(verdict),
  );

  it('is found by the mark where nobody knows its number, and unverifiable where it is not there', () => {
    const list = [
      { title: 'T', body: 'b\n\n<!-- act_2 -->' },
      { title: 'T', body: `b\n\n${MARK}` },
    ];
    expect(judged('search', 'create_issue', issue, list)).toEqual(['VERIFIED']);
    expect(judged('search', 'create_issue', issue, list.slice(0, 1))).toEqual(['UNVERIFIABLE', 'not_found']);
    // Whoever quotes a comment quotes its mark, but not at the end.
    expect(judged('search', 'create_issue', issue, [{ title: 'T', body: `> b\n> ${MARK}\n\nno` }])).toEqual([
      'UNVERIFIABLE',
      'not_found',
    ]);
  });

  it.each<[string, readonly string[], readonly string[]]>([
    ['one of them as it was sent', ['b', 'you said'], ['VERIFIED']],
    ['none as it was sent', ['c', 'you said'], ['UNVERIFIABLE', 'several_found']],
    ['several as it was sent', ['b', 'you said', 'b'], ['UNVERIFIABLE', 'several_found']],
    ['the only one as another', ['c'], ['MISMATCH', 'body']],
  ])('is judged among several with the mark: %s', (_, bodies, verdict) => {
    const list = bodies.map((text) => ({ title: 'T', body: `${text}\n\n${MARK}` }));
    expect(judged('search', 'create_issue', issue, list)).toEqual(verdict);
  });

  it.each(['object', 'search', 'absence'] as const)('is unverifiable by an answer that is none: %s', (kind) =>
    expect(judged(kind, kind === 'absence' ? 'delete_branch' : 'create_issue', issue, undefined)).toEqual([
      'UNVERIFIABLE',
      'answer_not_kept',
    ]),
  );
});

describe('what is read of a deletion', () => {
  const branch = { branch: 'fix', sha: SHA };
  const ref = (name: string, sha: string): JsonObject => ({ ref: `refs/heads/${name}`, object: { sha } });
  it.each<[string, JsonObject, JsonValue, readonly string[]]>([
    ['delete_branch', branch, [], ['VERIFIED']],
    ['delete_branch', branch, [ref('fix2', SHA), ref('fix/a', SHA)], ['VERIFIED']],
    ['delete_branch', branch, [ref('fix', SHA)], ['MISMATCH', 'present']],
    ['delete_branch', branch, [ref('fix', OTHER)], ['UNVERIFIABLE', 'changed_since']],
    ['delete_file', { branch: 'fix', path: 'a', sha: SHA }, { path: 'a', sha: SHA }, ['MISMATCH', 'present']],
    [
      'delete_file',
      { branch: 'fix', path: 'a', sha: SHA },
      { path: 'a', sha: OTHER },
      ['UNVERIFIABLE', 'changed_since'],
    ],
    ['delete_comment', { comment: 9 }, { id: 9, body: 'x' }, ['MISMATCH', 'present']],
  ])('%s with %j as %j', (toolName, args, body, verdict) =>
    expect(judged('absence', toolName, args, body)).toEqual(verdict),
  );
});
