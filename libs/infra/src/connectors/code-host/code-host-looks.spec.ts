import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '#libs/crypto';
import { type Quirk, refusal } from '../../../../../test/support/code-host-wire.js';
import { GivenCodeHost } from './testing/given-code-host.js';

let host: GivenCodeHost;
beforeEach(async () => {
  host = await GivenCodeHost.start();
});
afterEach(() => host.close());

const lines = (): readonly string[] => host.wire.requests.map(({ method, path }) => `${method} ${path}`);
const writes = (): readonly string[] => lines().filter((line) => !line.startsWith('GET '));
const openPull = async (): Promise<number> => host.pullOf('fix');

describe('a branch that is deleted', () => {
  it('is looked at first, and stays where it has moved on', async () => {
    const sha = host.wire.shop.branch('fix');
    host.wire.shop.write('fix', 'a', 'x');
    expect(await host.send('delete_branch', { branch: 'fix', sha })).toMatchObject({
      status: 'failed',
      errorCode: 'upstream_error',
    });
    expect([lines(), host.wire.shop.branches.has('fix')]).toEqual([['GET /repos/acme/shop/git/ref/heads/fix'], true]);
  });

  it('stays where what was read is another ref', async () => {
    const sha = host.wire.shop.branch('fix');
    const body = { ref: 'refs/heads/fix-2', object: { type: 'commit', sha } };
    host.wire.quirk = ({ method }) => (method === 'GET' ? { status: 200, body } : null);
    expect(await host.send('delete_branch', { branch: 'fix', sha })).toMatchObject({
      status: 'failed',
      hasSent: false,
    });
    expect(writes()).toEqual([]);
  });

  it('stays where it cannot be read', async () => {
    const sha = host.wire.shop.branch('fix');
    host.wire.quirk = () => 'drop';
    expect(await host.send('delete_branch', { branch: 'fix', sha })).toMatchObject({
      status: 'failed',
      errorCode: 'connector_unavailable',
    });
    expect(writes()).toEqual([]);
  });
});

describe('a pull request that is merged', () => {
  const merged = async (args: JsonObject) => {
    host.wire.requests.length = 0;
    const outcome = await host.send('merge_pull_request', args);
    const sent = host.wire.requests.filter(({ method }) => method !== 'GET').length;
    return [outcome.status, outcome.errorCode, outcome.hasSent, sent];
  };
  const UNSENT = ['failed', 'validation_failed', false, 0];

  it('is looked at first, with the files that it changes', async () => {
    const args = host.mergeOf(await host.pull());
    expect(await merged(args)).toEqual(['succeeded', null, true, 1]);
    expect(lines().slice(0, 2)).toEqual(['GET /repos/acme/shop/pulls/1', 'GET /repos/acme/shop/pulls/1/files']);
  });

  it('has the head and the base that the call names, or stays', async () => {
    const args = host.mergeOf(await host.pull());
    expect(await merged({ ...args, head_sha: 'b'.repeat(40) })).toEqual(UNSENT);
    host.wire.shop.branch('develop');
    Object.assign(host.wire.shop.pulls.get(1) ?? {}, { base: { ref: 'develop', sha: 'x' } });
    expect(await merged(args)).toEqual(UNSENT);
    expect(host.wire.shop.pulls.get(1)).toMatchObject({ merged: false });
  });

  it.each(['.github/workflows/evil.yml', 'docs/CODEOWNERS', 'a/.GitHub/../x', '.git/config'])(
    'stays where it changes %s',
    async (path) => {
      host.changedFile();
      host.wire.shop.write('fix', path, 'x');
      expect(await merged(host.mergeOf(await openPull()))).toEqual(UNSENT);
    },
  );

  it('stays where it moves such a file away', async () => {
    host.wire.shop.write('main', '.github/workflows/ci.yml', 'on: push');
    host.wire.shop.branch('fix');
    host.wire.shop.move('fix', '.github/workflows/ci.yml', 'ci.yml');
    expect(await merged(host.mergeOf(await openPull()))).toEqual(UNSENT);
  });

  it('may change such files where the config allows it', async () => {
    await host.close();
    host = await GivenCodeHost.start({ allow_workflows: true });
    host.changedFile();
    host.wire.shop.write('fix', '.github/workflows/ci.yml', 'on: push');
    expect(await merged(host.mergeOf(await openPull()))).toEqual(['succeeded', null, true, 1]);
    expect(lines().some((line) => line.endsWith('/files'))).toBe(false);
  });

  it('is seen on every page of its files, and stays where there are more than are looked at', async () => {
    const number = await host.pull();
    const proposed = (files: number): void => {
      let commit = host.wire.shop.branches.get('fix') as string;
      const all = new Map(host.wire.shop.commits.get(commit));
      for (let file = 0; file < files; file += 1) all.set(`many/${file}`, Buffer.from(String(file)));
      all.set('.github/z', Buffer.from('x'));
      commit = 'd'.repeat(40);
      host.wire.shop.commits.set(commit, all);
      host.wire.shop.branches.set('fix', commit);
      Object.assign(host.wire.shop.pulls.get(number) ?? {}, { head: { ref: 'fix', sha: commit } });
    };
    proposed(250);
    expect(await merged(host.mergeOf(number))).toEqual(UNSENT);
    expect(lines().filter((line) => line.endsWith('/files'))).toHaveLength(3);
    proposed(1_100);
    const { errorMessage } = await host.send('merge_pull_request', host.mergeOf(number));
    expect(errorMessage).toContain('merge it on the host');
    expect(await merged(host.mergeOf(number))).toEqual(UNSENT);
  });

  it.each<[string, Quirk, string]>([
    ['cannot be read', () => 'drop', 'connector_unavailable'],
    ['are none', () => ({ status: 200, body: {} }), 'connector_unavailable'],
    ['are limited', () => refusal(429, 'x'), 'upstream_rate_limited'],
    ['may not be seen', () => refusal(403, 'x'), 'upstream_auth_failed'],
  ])('stays where its files %s', async (_, quirk, code) => {
    const args = host.mergeOf(await host.pull());
    host.wire.quirk = (request) => (request.path.endsWith('/files') ? quirk(request) : null);
    expect(await merged(args)).toEqual(['failed', code, false, 0]);
    host.wire.quirk = (request) => (request.path.endsWith('/pulls/1') ? quirk(request) : null);
    const expected = code === 'connector_unavailable' ? expect.any(String) : code;
    expect(await merged(args)).toEqual(['failed', expected, false, 0]);
  });

  it('stays where fewer files are listed than it says to change', async () => {
    const args = host.mergeOf(await host.pull());
    host.wire.quirk = ({ path }) => (path.endsWith('/files') ? { status: 200, body: [] } : null);
    expect(await merged(args)).toEqual(['failed', 'connector_unavailable', false, 0]);
  });

  it('is a MISMATCH where it reached another base', async () => {
    const args = host.mergeOf(await host.pull());
    const { result } = await host.send('merge_pull_request', args);
    Object.assign(host.wire.shop.pulls.get(1) ?? {}, { base: { ref: 'develop', sha: 'x' } });
    const { verdict, reasons } = await host.observe('merge_pull_request', args, result);
    expect([verdict, ...reasons]).toEqual(['MISMATCH', 'base']);
  });
});
