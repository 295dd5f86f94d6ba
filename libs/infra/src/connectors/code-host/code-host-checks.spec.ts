import { afterEach, describe, expect, it } from 'vitest';
import { refusal } from '../../../../../test/support/code-host-wire.js';
import { GivenCodeHost } from './testing/given-code-host.js';

let host: GivenCodeHost;
afterEach(() => host.close());

const started = async (...repositories: readonly string[]): Promise<GivenCodeHost> => {
  host = await GivenCodeHost.start({ repositories: ['acme/shop', ...repositories] });
  return host;
};
const found = async (): Promise<Readonly<Record<string, string>>> =>
  Object.fromEntries(Object.entries(await host.test()).map(([name, [status]]) => [name, status]));

describe('a test of a code host', () => {
  it('passes, reads alone, and reads each repository once', async () => {
    await started();
    expect(await found()).toEqual({
      auth: 'passed',
      repositories: 'passed',
      permissions: 'passed',
      protection: 'passed',
    });
    expect(host.wire.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET', 'GET', 'GET']);
  });

  it('says when the token ends', async () => {
    await started();
    host.wire.headers = { 'GitHub-Authentication-Token-Expiration': '2027-01-31 10:00:00 UTC' };
    expect((await host.test())['auth']?.[1]).toBe('The code host takes the token. It ends on 2027-01-31.');
  });

  it.each([
    ['that is bad', () => refusal(401, 'Bad credentials'), 'failed'],
    ['of another kind', () => ({ status: 200, body: {}, headers: { 'X-OAuth-Scopes': 'repo, workflow' } }), 'warns'],
    ['that is limited', () => refusal(403, 'API rate limit exceeded'), 'failed'],
  ] as const)('finds a token %s', async (_, quirk, status) => {
    await started();
    host.wire.quirk = ({ path }) => (path === '/user' ? quirk() : null);
    expect(await found()).toMatchObject({ auth: status });
  });

  it('names the repositories that the token does not see, and those that were renamed', async () => {
    await started('acme/secret', 'acme/old');
    host.wire.renamed.set('acme/old', 'acme/new');
    const { repositories } = await host.test();
    expect(repositories).toEqual(['warns', 'The token does not see acme/secret. Renamed or moved: acme/old.']);
  });

  it('fails where the token sees none', async () => {
    await started();
    host.wire.repositories.clear();
    expect((await found())['repositories']).toBe('failed');
  });

  it.each([
    ['isArchived', true],
    ['mayPush', false],
  ] as const)('warns of a repository with %s %s', async (name, value) => {
    await started();
    Object.assign(host.wire.shop, { [name]: value });
    expect((await host.test())['repositories']).toEqual(['warns', expect.stringContaining('acme/shop')]);
  });

  it('names what the token may not read', async () => {
    await started();
    host.wire.denied.add('pulls').add('branches');
    const { permissions } = await host.test();
    expect(permissions).toEqual([
      'warns',
      'The token may not read pull requests, contents: tools that do will be refused.',
    ]);
  });

  it('says what it found of default branches, and what it did not look at', async () => {
    await started();
    expect((await host.test())['protection']).toEqual([
      'passed',
      'The default branch of each repository that the token sees is among protected_branches, so that no tool writes to it. How the host itself protects it was not looked at.',
    ]);
  });

  it('looks at the repositories that the token sees where it does not see others, and at none where it sees none', async () => {
    await started('acme/secret');
    host.wire.shop.defaultBranch = 'trunk';
    expect(await found()).toMatchObject({ repositories: 'warns', permissions: 'passed', protection: 'warns' });
    host.wire.repositories.clear();
    expect(await found()).toMatchObject({ repositories: 'failed', permissions: 'skipped', protection: 'skipped' });
  });

  it('warns of a default branch that agents may write to', async () => {
    await started();
    host.wire.shop.defaultBranch = 'trunk';
    expect((await host.test())['protection']).toEqual([
      'warns',
      'Agents may write to the default branch of acme/shop.',
    ]);
  });
});
