import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#libs/crypto';
import type { CodeHostConfig } from './code-host-config.js';
import { planCodeHost } from './code-host-request.js';

const CONFIG: CodeHostConfig = {
  provider: 'github',
  repositories: ['acme/shop', 'Acme/.Docs'],
  protected_branches: ['main', 'release/*'],
  allow_workflows: false,
  merge_methods: ['squash'],
  max_file_bytes: 100,
};
const ACTION = 'act_0123456789abcdefghjkmnpqrs';
const SHA = 'a'.repeat(40);

const repository = 'acme/shop';
const planned = (tool: string, args: JsonObject, config = CONFIG) =>
  planCodeHost(config, tool, { repository, ...args }, ACTION);
const request = (tool: string, args: JsonObject, config = CONFIG) => {
  const plan = planned(tool, args, config);
  if (!plan.ok) throw new Error(plan.fault.message);
  return plan.request;
};
const faultAt = (tool: string, args: JsonObject, config = CONFIG): string | null => {
  const plan = planned(tool, args, config);
  return plan.ok ? null : plan.fault.param;
};
const body = (tool: string, args: JsonObject): unknown => JSON.parse(request(tool, args).body ?? 'null');
const FILE = { branch: 'fix', path: 'docs/a.md', content: 'hä', message: 'Say more' };
const MERGE = { number: 7, head_sha: SHA, base: 'main', method: 'squash' };

describe('a request to the code host', () => {
  it.each<[string, JsonObject, string]>([
    ['get_file', { path: 'a b/ü#?.md', ref: 'v1.0' }, 'GET /repos/acme/shop/contents/a%20b/%C3%BC%23%3F.md?ref=v1.0'],
    ['get_file', { path: '.github/workflows/x.yml' }, 'GET /repos/acme/shop/contents/.github/workflows/x.yml'],
    [
      'list_issues',
      { limit: 25, page: 2, state: 'all' },
      'GET /repos/acme/shop/issues?state=all&sort=created&direction=desc&per_page=25&page=2',
    ],
    ['get_branch', { branch: 'fix/#1' }, 'GET /repos/acme/shop/branches/fix/%231'],
    ['get_branch', { branch: 'main' }, 'GET /repos/acme/shop/branches/main'],
    ['get_issue', { number: 7 }, 'GET /repos/acme/shop/issues/7'],
    ['list_comments', { number: 7 }, 'GET /repos/acme/shop/issues/7/comments?per_page=10'],
    [
      'list_pull_requests',
      { base: 'main' },
      'GET /repos/acme/shop/pulls?base=main&sort=created&direction=desc&per_page=10',
    ],
    ['get_pull_request', { number: 7 }, 'GET /repos/acme/shop/pulls/7'],
    ['create_issue', { title: 'T' }, 'POST /repos/acme/shop/issues'],
    ['update_issue', { number: 7, state: 'closed' }, 'PATCH /repos/acme/shop/issues/7'],
    ['create_comment', { number: 7, body: 'b' }, 'POST /repos/acme/shop/issues/7/comments'],
    ['create_branch', { branch: 'fix', sha: SHA }, 'POST /repos/acme/shop/git/refs'],
    ['put_file', FILE, 'PUT /repos/acme/shop/contents/docs/a.md'],
    ['create_pull_request', { head: 'fix', base: 'main', title: 'T' }, 'POST /repos/acme/shop/pulls'],
    ['delete_comment', { comment: 9 }, 'DELETE /repos/acme/shop/issues/comments/9'],
    ['delete_file', { branch: 'fix', path: 'a', sha: SHA, message: 'm' }, 'DELETE /repos/acme/shop/contents/a'],
    ['delete_branch', { branch: 'fix/#1', sha: SHA }, 'DELETE /repos/acme/shop/git/refs/heads/fix/%231'],
    ['merge_pull_request', MERGE, 'PUT /repos/acme/shop/pulls/7/merge'],
  ])('of %s with %j is %s', (tool, args, line) => {
    const { method, origin, path, query, headers } = request(tool, args);
    expect(`${method} ${path}${query === '' ? '' : `?${query}`}`).toBe(line);
    expect(origin).toBe('https://api.github.com');
    expect(headers).toContainEqual(['X-GitHub-Api-Version', '2022-11-28']);
  });

  it('goes below /api/v3 of an Enterprise Server', () => {
    const { origin, path } = request('get_issue', { number: 7 }, { ...CONFIG, base_url: 'https://github.example.com' });
    expect(`${origin}${path}`).toBe('https://github.example.com/api/v3/repos/acme/shop/issues/7');
  });

  it('names its action under every text, and in every commit', () => {
    expect(body('create_issue', { title: 'T', body: 'b' })).toEqual({ title: 'T', body: `b\n\n<!-- ${ACTION} -->` });
    expect(body('create_issue', { title: 'T' })).toEqual({ title: 'T', body: `<!-- ${ACTION} -->` });
    expect(body('create_comment', { number: 7, body: 'b' })).toEqual({ body: `b\n\n<!-- ${ACTION} -->` });
    expect(body('update_issue', { number: 7, state: 'open' })).toEqual({ state: 'open' });
    expect(body('update_issue', { number: 7, body: '' })).toEqual({ body: `<!-- ${ACTION} -->` });
    expect(body('put_file', { ...FILE, sha: SHA })).toEqual({
      ...{ branch: 'fix', sha: SHA, content: Buffer.from('hä').toString('base64') },
      message: `Say more\n\nService-Action-Id: ${ACTION}`,
    });
    expect(body('create_pull_request', { head: 'fix', base: 'main', title: 'T' })).toEqual({
      ...{ head: 'fix', base: 'main', title: 'T', draft: false, maintainer_can_modify: false },
      body: `<!-- ${ACTION} -->`,
    });
    expect(body('create_pull_request', { head: 'fix', base: 'main', title: 'T', draft: true })).toMatchObject({
      draft: true,
    });
    expect(body('merge_pull_request', MERGE)).toEqual({
      sha: SHA,
      merge_method: 'squash',
    });
    expect(body('create_branch', { branch: 'fix', sha: SHA })).toEqual({ ref: 'refs/heads/fix', sha: SHA });
  });
});

it.each(['👩‍❤️‍👨 both', '👨🏽‍🦰', '🏳️‍🌈', 'naïve 文', 'مرحبا'])('the title %j is sent as it is', (title) =>
  expect(body('create_issue', { title })).toMatchObject({ title }),
);

it('a commit may say more on further lines', () =>
  expect(faultAt('put_file', { ...FILE, message: 'a\n\n\t- b\r\n' })).toBeNull());

const text = (given: string): unknown => (body('create_comment', { number: 7, body: given }) as JsonObject)['body'];
const MARK = `<!-- ${ACTION} -->`;

describe('the mark', () => {
  it.each([
    ['a\n\n<!-- act_0123456789abcdefghjkmnpqrs -->', `a\n\n${MARK}`],
    ['a\r\n\r\n<!-- act_1 -->\r\n', `a\n\n${MARK}`],
  ])('of an earlier action under %j is replaced', (given, sent) => expect(text(given)).toBe(sent));

  it.each([
    ['```\nx', '```\nx\n```'],
    ['```\nx\n', '```\nx\n```'],
    ['~~~~ sh\n~~~\n```', '~~~~ sh\n~~~\n```\n~~~~'],
    ['a\n  ````ts\nx\n```', 'a\n  ````ts\nx\n```\n  ````'],
    ['- a\n  ```\n  x', '- a\n  ```\n  x\n  ```'],
    ['- ```\n  x', '- ```\n  x\n  ```'],
  ])('is no part of the block that %j leaves open', (given, closed) =>
    expect(text(given)).toBe(`${closed}\n\n${MARK}`),
  );

  it.each(['-    ', '1. ', '`', '```\n', '~', '\n\n<!-- act_1 -->', '\n\t ', '\u200d', '- ```\n'])(
    'is put under 60,000 characters of %j in no time',
    (piece) => {
      const startedMs = performance.now();
      faultAt('create_comment', { number: 7, body: `x${piece.repeat(60_000 / piece.length)}x` });
      expect(performance.now() - startedMs).toBeLessThan(500);
    },
  );

  it.each([
    '```\nx\n```',
    '~~~\nx\n~~~~~  ',
    '```a`b',
    '``x``',
    '    ```\nx',
    '> ```\n> x',
    '- ```\n  x\n  ```',
    '- ```\n  x\nafter',
    '```\n> ```\n```',
  ])('stands under %j, which leaves none open', (given) => expect(text(given)).toBe(`${given}\n\n${MARK}`));
});

describe('a call that no request is built of', () => {
  it.each<[string, string, JsonObject]>([
    ['args.repository', 'get_issue', { repository: 'acme/other', number: 1 }],
    ['args.repository', 'get_issue', { repository: 'ACME/shop', number: 1 }],
    ['args.repository', 'get_issue', { repository: 'acme/shop/../other', number: 1 }],
    ['args.branch', 'put_file', { ...FILE, branch: 'main' }],
    ['args.branch', 'put_file', { ...FILE, branch: 'MAIN' }],
    ['args.branch', 'put_file', { ...FILE, branch: 'refs/heads/main' }],
    ['args.branch', 'put_file', { ...FILE, branch: 'release/2' }],
    ['args.branch', 'put_file', { ...FILE, branch: 'HEAD' }],
    ['args.branch', 'put_file', { ...FILE, branch: 'main.' }],
    ['args.branch', 'put_file', { ...FILE, branch: 'm%61in' }],
    ['args.branch', 'delete_file', { branch: 'main', path: 'a', sha: SHA, message: 'm' }],
    ['args.branch', 'create_branch', { branch: 'Release/9', sha: SHA }],
    ['args.branch', 'delete_branch', { branch: 'main', sha: SHA }],
    ['args.head', 'create_pull_request', { head: 'mallory:fix', base: 'main', title: 'T' }],
    ['args.head', 'create_pull_request', { head: 'main', base: 'main', title: 'T' }],
    ['args.path', 'put_file', { ...FILE, path: '.github/workflows/x.yml' }],
    ['args.path', 'put_file', { ...FILE, path: 'docs/CODEOWNERS' }],
    ['args.path', 'delete_file', { branch: 'fix', path: '.github/x', sha: SHA, message: 'm' }],
    ['args.path', 'put_file', { ...FILE, path: 'a/../b' }],
    ['args.path', 'get_file', { path: '../../other/contents/a' }],
    ['args.path', 'get_file', { path: '.git/config' }],
    ['args.ref', 'get_file', { path: 'a', ref: 'main~1' }],
    ['args.branch', 'get_branch', { branch: 'refs/heads/main' }],
    ['args.branch', 'get_branch', {}],
    ['args.content', 'put_file', { ...FILE, content: 'ä'.repeat(51) }],
    ['args.content', 'put_file', { ...FILE, content: '\ud800' }],
    ['args.path', 'get_file', { path: 'a\ud800' }],
    ['args.body', 'create_comment', { number: 7, body: '\udc00' }],
    ['args.message', 'put_file', { ...FILE, message: ' ' }],
    ['args.message', 'put_file', { ...FILE, message: 'x\n\nService-Action-Id: act_1' }],
    ['args.body', 'create_comment', { number: 7, body: 'x <!-- act_1 -->' }],
    ['args.body', 'create_comment', { number: 7, body: 'x <!--ACT_1' }],
    ['args.body', 'update_issue', { number: 7, body: 'a\n\n<!-- act_1 -->\n\nb' }],
    ['args.body', 'update_issue', { number: 7, body: 'a\n\n<!-- act_1 -->\n\n<!-- act_2 -->' }],
    ['args.body', 'create_comment', { number: 7, body: '' }],
    ['args.body', 'create_comment', { number: 7, body: ' \n\u200b' }],
    ['args.body', 'create_comment', { number: 7, body: '<!-- act_1 -->' }],
    ...[
      '\u200e',
      '\u200f',
      '\u061c',
      '\ufeff',
      '\u200b',
      '\u{e0041}',
      '\u202e',
      '\u2066',
      '\u00ad',
      '\u200d',
      '\u2028',
    ].flatMap((sign): [string, string, JsonObject][] => [
      ['args.title', 'create_issue', { title: `a${sign}b` }],
      ['args.title', 'update_issue', { number: 7, title: `a${sign}` }],
      ['args.message', 'put_file', { ...FILE, message: `a${sign}b` }],
    ]),
    ['args.message', 'put_file', { ...FILE, message: 'a\u001b[2J' }],
    ['args.title', 'create_issue', { title: 'a\nb' }],
    ['args.title', 'create_issue', { title: ' ' }],
    ['args', 'update_issue', { number: 7 }],
    ['args.number', 'get_issue', { number: '7/../8' }],
    ['args.number', 'get_issue', { number: 0 }],
    ['args.sha', 'create_branch', { branch: 'fix', sha: 'main' }],
    ['args.method', 'merge_pull_request', { ...MERGE, method: 'merge' }],
    ['args.head_sha', 'merge_pull_request', { number: 7, base: 'main', method: 'squash' }],
    ['args.base', 'merge_pull_request', { number: 7, head_sha: SHA, method: 'squash' }],
    ['args.base', 'merge_pull_request', { ...MERGE, base: 'refs/heads/main' }],
    ['args.comment', 'delete_comment', { comment: 1.5 }],
    ['args.limit', 'list_issues', { limit: 26 }],
    ['args.labels', 'create_issue', { title: 'T', labels: 'x' }],
    ['tool', 'delete_repository', {}],
    ['tool', 'constructor', {}],
  ])('is at fault in %s: %s with %j', (param, tool, args) => expect(faultAt(tool, args)).toBe(param));

  it('does not hold for what the config opens', () => {
    const open = { ...CONFIG, allow_workflows: true, protected_branches: [] };
    expect(faultAt('put_file', { ...FILE, branch: 'main', path: '.github/x' }, open)).toBeNull();
    expect(faultAt('get_issue', { repository: 'Acme/.Docs', number: 1 })).toBeNull();
  });

  it('does not hold for a merge into a protected branch, which a policy decides', () =>
    expect(faultAt('merge_pull_request', MERGE)).toBeNull());
});
