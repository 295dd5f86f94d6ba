import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '#libs/crypto';
import { type Quirk, refusal, type WireRequest, WIRE_TOKEN } from '../../../../../test/support/code-host-wire.js';
import { ACTION, GivenCodeHost } from './testing/given-code-host.js';

let host: GivenCodeHost;
beforeEach(async () => {
  host = await GivenCodeHost.start();
});
afterEach(() => host.close());

const MARK = `<!-- ${ACTION} -->`;
const writes = (): readonly WireRequest[] => host.wire.requests.filter(({ method }) => method !== 'GET');
const onWrites =
  (quirk: Quirk): Quirk =>
  (request) =>
    request.method === 'GET' ? null : quirk(request);
const lines = (): readonly string[] => host.wire.requests.map(({ method, path }) => `${method} ${path}`);
const openIssue = (more: JsonObject = {}) => host.send('create_issue', { title: 'T', body: 'b', ...more });

/** Each write, with what has to be there before it. */
const WRITES: readonly (readonly [tool: string, argsOf: () => Promise<JsonObject> | JsonObject])[] = [
  ['create_issue', () => ({ title: 'T', body: 'b' })],
  ['update_issue', async () => ({ number: await issue(), title: 'U', body: 'c', state: 'closed' })],
  ['create_comment', async () => ({ number: await issue(), body: 'b' })],
  ['create_branch', () => ({ branch: 'fix/1', sha: host.wire.shop.branches.get('main') as string })],
  [
    'put_file',
    () => {
      host.wire.shop.branch('fix');
      return { branch: 'fix', path: 'docs/ä b.md', content: 'hä\n', message: 'm' };
    },
  ],
  ['put_file', () => ({ branch: 'fix', path: 'a', content: 'new', message: 'm', sha: changedFile() })],
  [
    'create_pull_request',
    () => {
      changedFile();
      return { head: 'fix', base: 'main', title: 'T', body: 'b', draft: false };
    },
  ],
  ['delete_comment', async () => ({ comment: await comment() })],
  ['delete_file', () => ({ branch: 'fix', path: 'a', sha: changedFile(), message: 'm' })],
  ['delete_branch', () => ({ branch: 'fix', sha: host.wire.shop.branch('fix') })],
  ['merge_pull_request', async () => host.mergeOf(await pull())],
];

const changedFile = (): string => host.changedFile();
const pull = (): Promise<number> => host.pull();
const numberIn = (result: unknown, name: 'number' | 'id'): number =>
  Number((result as { readonly body: Readonly<Record<string, unknown>> }).body[name]);
const issue = async (): Promise<number> => numberIn((await openIssue()).result, 'number');
const comment = async (): Promise<number> =>
  numberIn((await host.send('create_comment', { number: await issue(), body: 'b' })).result, 'id');
const confirmed = async (toolName: string, args: JsonObject, result: unknown) => {
  const { verdict, reasons, evidence } = await host.observe(toolName, args, result as JsonObject | null);
  expect(evidence ?? '').not.toContain(WIRE_TOKEN);
  return [verdict, ...reasons];
};

describe.each(WRITES)('%s', (tool, argsOf) => {
  it('is sent once, succeeds, and is VERIFIED', async () => {
    const args = await argsOf();
    const before = writes().length;
    const outcome = await host.send(tool, args);
    expect(outcome).toMatchObject({ status: 'succeeded', errorCode: null, hasSent: true, retryAfterMs: null });
    expect(writes()).toHaveLength(before + 1);
    expect(await confirmed(tool, args, outcome.result)).toEqual(['VERIFIED']);
  });

  it('is found although its answer was lost', async () => {
    const args = await argsOf();
    host.wire.quirk = onWrites(() => 'answer_lost');
    expect(await host.send(tool, args)).toMatchObject({ status: 'unknown', retryAfterMs: null });
    expect(await confirmed(tool, args, null)).toEqual(['VERIFIED']);
  });

  it('is never VERIFIED where it was not done', async () => {
    const args = await argsOf();
    host.wire.quirk = onWrites(() => 'drop');
    expect(await host.send(tool, args)).toMatchObject({ status: 'unknown', retryAfterMs: null });
    const [verdict] = await confirmed(tool, args, null);
    expect(['MISMATCH', 'UNVERIFIABLE']).toContain(verdict);
  });

  it('sends no byte of a write after a Stop', async () => {
    const args = await argsOf();
    const before = writes().length;
    const mayStillSend = (hasSent: boolean) => Promise.resolve(hasSent ? null : ('agent_stopped' as const));
    expect(await host.send(tool, args, { mayStillSend })).toMatchObject({
      status: 'failed',
      errorCode: 'agent_stopped',
    });
    expect(writes()).toHaveLength(before);
  });
});

describe('a write that has no good answer', () => {
  it.each<[string, Quirk, string, string]>([
    ['a fault of the host', () => refusal(500, 'x'), 'unknown', 'upstream_error'],
    ['a gateway that is down', () => ({ status: 502, body: '<html>' }), 'unknown', 'upstream_error'],
    ['a service that is overloaded', () => refusal(503, 'x', { 'Retry-After': '1' }), 'unknown', 'upstream_error'],
    ['a lost answer', () => 'answer_lost', 'unknown', 'upstream_error'],
    ['a page', () => ({ status: 201, body: '<html>' }), 'unknown', 'upstream_error'],
    ['a promise', () => ({ status: 202, body: {} }), 'unknown', 'upstream_error'],
    ['too many requests', () => refusal(429, 'x'), 'failed', 'upstream_rate_limited'],
    ['a used-up hour', () => refusal(403, 'x', { 'X-RateLimit-Remaining': '0' }), 'failed', 'upstream_rate_limited'],
    [
      'a secondary limit',
      () => refusal(403, 'You have exceeded a secondary rate limit.'),
      'failed',
      'upstream_rate_limited',
    ],
    [
      'a limit in plain words',
      () => ({ status: 403, body: 'API rate limit exceeded', headers: { 'Content-Type': 'text/plain' } }),
      'failed',
      'upstream_rate_limited',
    ],
    ['a limit on a page', () => ({ status: 403, body: '<p>secondary rate limit' }), 'failed', 'upstream_rate_limited'],
    ['a limit with its end', () => refusal(403, 'x', { 'Retry-After': '1' }), 'failed', 'upstream_rate_limited'],
    [
      'a missing permission',
      () => refusal(403, 'Resource not accessible by personal access token'),
      'failed',
      'upstream_auth_failed',
    ],
    ['a bad token', () => refusal(401, 'Bad credentials'), 'failed', 'upstream_auth_failed'],
    ['what it cannot see', () => refusal(404, 'Not Found'), 'failed', 'upstream_not_found'],
    ['a conflict', () => refusal(409, 'x'), 'failed', 'upstream_error'],
    ['what is not valid', () => refusal(422, 'Validation Failed'), 'failed', 'upstream_error'],
  ])('%s, and is not sent again', async (_, quirk, status, errorCode) => {
    host.wire.quirk = onWrites(quirk);
    expect(await openIssue()).toMatchObject({ status, errorCode, retryAfterMs: null });
    expect(writes()).toHaveLength(1);
  });

  it.each([
    ['another sha than the file has', { path: 'a', sha: 'b'.repeat(40) }],
    ['no sha of a file that is there', { path: 'a' }],
    ['a branch that is not there', { path: 'a', branch: 'nowhere' }],
  ])('of put_file with %s leaves the file as it is', async (_, changes) => {
    changedFile();
    const outcome = await host.send('put_file', { branch: 'fix', content: 'new', message: 'm', ...changes });
    expect(outcome.status).toBe('failed');
    expect(host.wire.shop.file('fix', 'a')).toBe('old');
  });

  it('of merge_pull_request with a head that moved after it was looked at merges nothing', async () => {
    const args = host.mergeOf(await pull());
    host.wire.quirk = onWrites(() => {
      Object.assign(host.wire.shop.pulls.get(2) ?? host.wire.shop.pulls.get(1) ?? {}, {
        head: { ref: 'fix', sha: 'c' },
      });
      return null;
    });
    expect(await host.send('merge_pull_request', args)).toMatchObject({
      status: 'failed',
      errorCode: 'upstream_error',
    });
    expect(host.wire.shop.pulls.get(Number(args['number']))).toMatchObject({ merged: false });
  });
});

it('a missing permission is named in the result', async () => {
  host.wire.denied.add('issues');
  const { errorCode, result } = await openIssue();
  expect(errorCode).toBe('upstream_auth_failed');
  expect(result).toMatchObject({ headers: { 'x-accepted-github-permissions': 'issues=write' } });
});

describe('a repository that was renamed', () => {
  it('is not followed to its new name, by reads and writes', async () => {
    const number = await issue();
    host.wire.add('acme/store');
    host.wire.renamed.set('acme/shop', 'acme/store');
    host.wire.requests.length = 0;
    for (const [tool, args] of [
      ['get_issue', { number }],
      ['create_comment', { number, body: 'b' }],
    ] as const) {
      expect(await host.send(tool, args)).toMatchObject({
        status: 'failed',
        errorCode: 'upstream_error',
        errorMessage: expect.stringContaining('renamed') as string,
      });
    }
    expect(lines()).toEqual([
      `GET /repos/acme/shop/issues/${number}`,
      `POST /repos/acme/shop/issues/${number}/comments`,
    ]);
  });
});

describe('a read', () => {
  it('shows a file, without the link that opens it', async () => {
    changedFile();
    const { status, result } = await host.send('get_file', { path: 'a', ref: 'fix' });
    expect(status).toBe('succeeded');
    expect(result).toMatchObject({ body: { path: 'a', content: Buffer.from('old').toString('base64') } });
    expect(JSON.stringify(result)).not.toContain('SECRETLINK');
  });

  it.each([
    ['get_issue', () => refusal(502, 'x'), 'unknown', true],
    ['get_issue', () => refusal(503, 'x'), 'unknown', true],
    ['list_issues', () => refusal(403, 'API rate limit exceeded'), 'failed', false],
    ['list_issues', () => ({ status: 200, body: '<html>' }), 'failed', false],
  ] as const)('%s may be repeated where the host fails in a passing way', async (tool, quirk, status, isRepeated) => {
    host.wire.quirk = quirk;
    const outcome = await host.send(tool, tool === 'get_issue' ? { number: 1 } : {});
    expect([outcome.status, outcome.retryAfterMs !== null]).toEqual([status, isRepeated]);
  });

  it('shows a branch, with the commit that other calls name', async () => {
    const sha = host.wire.shop.branch('fix/1');
    const { status, result } = await host.send('get_branch', { branch: 'fix/1' });
    expect([status, result]).toEqual([
      'succeeded',
      expect.objectContaining({ body: { name: 'fix/1', commit: { sha } } }),
    ]);
    expect(await host.send('create_branch', { branch: 'fix/2', sha })).toMatchObject({ status: 'succeeded' });
  });

  it('lists what there is', async () => {
    const number = await issue();
    await host.send('create_comment', { number, body: 'c' });
    expect((await host.send('list_issues')).result).toMatchObject({
      body: [{ number, title: 'T', body: `b\n\n${MARK}` }],
    });
    expect((await host.send('list_comments', { number })).result).toMatchObject({ body: [{ body: `c\n\n${MARK}` }] });
    const proposed = await pull();
    expect((await host.send('list_pull_requests')).result).toMatchObject({ body: [{ number: proposed }] });
    expect((await host.send('get_pull_request', { number: proposed })).result).toMatchObject({
      body: { merged: false },
    });
  });
});

it('a text that is sent back as it was read has the mark of the new action alone, and is VERIFIED', async () => {
  const number = await issue();
  Object.assign(host.wire.shop.issues.get(number) ?? {}, { body: 'b\r\n\r\n<!-- act_0123456789abcdefghjkmnpqrs -->' });
  const { result } = await host.send('get_issue', { number });
  const { body } = (result as { readonly body: { readonly body: string } }).body;
  const args = { number, body };
  const outcome = await host.send('update_issue', args);
  expect(host.wire.shop.issues.get(number)).toMatchObject({ body: `b\n\n${MARK}` });
  expect(await confirmed('update_issue', args, outcome.result)).toEqual(['VERIFIED']);
});

describe('what no policy opens', () => {
  it.each<[string, JsonObject]>([
    ['get_issue', { repository: 'acme/other', number: 1 }],
    ['put_file', { branch: 'main', path: 'a', content: 'x', message: 'm' }],
    ['put_file', { branch: 'refs/heads/main', path: 'a', content: 'x', message: 'm' }],
    ['put_file', { branch: 'fix', path: '.github/workflows/a.yml', content: 'x', message: 'm' }],
    ['get_file', { path: '../other/contents/a' }],
    ['delete_branch', { branch: 'master', sha: 'a'.repeat(40) }],
  ])('%s with %j is not sent, and has no facts', async (tool, args) => {
    const outcome = await host.send(tool, args);
    expect(outcome).toMatchObject({ status: 'failed', errorCode: 'validation_failed', hasSent: false });
    expect(host.wire.requests).toEqual([]);
    const all = { repository: 'acme/shop', ...args };
    expect(host.driver.requestFacts(host.connector, tool, all)).toEqual({});
    expect(host.driver.previewOf(host.connector, tool, all)).toMatchObject({ request: null });
  });
});

describe('a lie', () => {
  it.each(WRITES.filter(([tool]) => tool !== 'create_branch'))(
    'of an answer to %s is no VERIFIED',
    async (tool, argsOf) => {
      const args = await argsOf();
      const isDeleted = tool === 'delete_comment' || tool === 'delete_branch';
      const good = { number: 1, id: 1_001, merged: true, content: {}, commit: {} };
      host.wire.quirk = onWrites(() => (isDeleted ? { status: 204 } : { status: 200, body: good }));
      const { status, result } = await host.send(tool, args);
      expect(status).toBe('succeeded');
      expect((await confirmed(tool, args, result))[0]).not.toBe('VERIFIED');
    },
  );

  it('is a MISMATCH where something else is there', async () => {
    const { result } = await openIssue();
    Object.assign(host.wire.shop.issues.get(1) ?? {}, { body: `other\n\n${MARK}` });
    expect(await confirmed('create_issue', { title: 'T', body: 'b' }, result)).toEqual(['MISMATCH', 'body']);
    host.wire.shop.branch('fix');
    const args = { branch: 'fix', path: 'a', content: 'x', message: 'm' };
    const put = await host.send('put_file', args);
    host.wire.shop.write('fix', 'a', 'y');
    expect(await confirmed('put_file', args, put.result)).toEqual(['MISMATCH', 'sha']);
  });
});

it('a comment is found among many, although its answer was lost', async () => {
  const args = { number: await issue(), body: 'b' };
  for (let written = 0; written < 150; written += 1)
    host.wire.shop.answer('POST', ['issues', '1', 'comments'], new URLSearchParams(), { body: 'x' });
  host.wire.quirk = onWrites(() => 'answer_lost');
  await host.send('create_comment', args);
  expect(await confirmed('create_comment', args, null)).toEqual(['VERIFIED']);
});

describe('a read of what was written', () => {
  const seen = async (toolName: string, args: JsonObject, result: unknown) => {
    const { verdict, reasons, hasAnswer, mayChange } = await host.observe(toolName, args, result as JsonObject | null);
    return [verdict, reasons[0], hasAnswer, mayChange];
  };

  it('that the host answers with 404 is no answer: the token may not see it any more', async () => {
    const { result } = await openIssue();
    host.wire.quirk = () => refusal(404, 'Not Found');
    expect(await seen('create_issue', { title: 'T', body: 'b' }, result)).toEqual([
      'UNVERIFIABLE',
      'not_found',
      false,
      true,
    ]);
    expect(await seen('delete_comment', { comment: 9 }, null)).toEqual(['UNVERIFIABLE', 'not_found', false, true]);
  });

  it('that finds no mark among the newest is no answer, because older ones are not looked at', async () => {
    await issue();
    expect(await seen('create_issue', { title: 'X' }, null)).toEqual(['MISMATCH', 'title', true, true]);
    host.wire.shop.issues.clear();
    expect(await seen('create_issue', { title: 'X' }, null)).toEqual(['UNVERIFIABLE', 'not_found', false, true]);
  });

  it('that shows the thing is an answer, whatever it says of the write', async () => {
    const { result } = await openIssue();
    expect(await seen('create_issue', { title: 'T', body: 'b' }, result)).toEqual(['VERIFIED', undefined, true, false]);
    expect((await seen('create_issue', { title: 'U', body: 'b' }, result)).slice(0, 3)).toEqual([
      'MISMATCH',
      'title',
      true,
    ]);
    const sha = host.wire.shop.branch('fix');
    const args = { branch: 'fix', sha: 'b'.repeat(40) };
    expect(sha).not.toBe(args.sha);
    expect(await seen('delete_branch', args, null)).toEqual(['UNVERIFIABLE', 'changed_since', true, true]);
    host.wire.quirk = () => ({ status: 200, body: [] });
    expect(await seen('create_issue', { title: 'T' }, result)).toEqual([
      'UNVERIFIABLE',
      'answer_not_kept',
      false,
      true,
    ]);
  });

  it('that is limited is not repeated', async () => {
    const { result } = await openIssue();
    const deleted = await comment();
    host.wire.shop.comments.clear();
    host.wire.quirk = ({ path }) => (path.endsWith(`/${deleted}`) ? null : refusal(429, 'x', { 'Retry-After': '60' }));
    const limited = ['UNVERIFIABLE', 'upstream_rate_limited', false, false];
    expect(await seen('create_issue', { title: 'T', body: 'b' }, result)).toEqual(limited);
    expect(await seen('delete_comment', { comment: deleted }, null)).toEqual(limited);
  });
});

describe('an absence', () => {
  it('is none where the token may not see any more', async () => {
    const args = { comment: await comment() };
    const { result } = await host.send('delete_comment', args);
    host.wire.quirk = () => refusal(404, 'Not Found');
    expect(await confirmed('delete_comment', args, result)).toEqual(['UNVERIFIABLE', 'not_found']);
  });
});

describe('the token', () => {
  it('is in nothing that is kept', async () => {
    host.wire.quirk = ({ headers }) => refusal(422, headers.authorization ?? '');
    const outcome = await openIssue();
    expect(outcome.result).not.toBeNull();
    expect(JSON.stringify(outcome)).not.toContain(WIRE_TOKEN);
    expect(JSON.stringify(outcome)).not.toContain(Buffer.from(WIRE_TOKEN).toString('base64').slice(4, 40));
  });

  it.each([`ghp_${'a'.repeat(36)}`, `${WIRE_TOKEN}\r\nX-Evil: 1`, ''])(
    '%j in the vault sends nothing',
    async (token) => {
      await host.storeToken(token);
      expect(await openIssue()).toMatchObject({ status: 'failed', errorCode: 'credentials_missing', hasSent: false });
      expect(host.wire.requests).toEqual([]);
    },
  );
});
