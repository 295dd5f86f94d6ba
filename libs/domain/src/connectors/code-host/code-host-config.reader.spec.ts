import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '#libs/crypto';
import { thrown } from '../../../../../test/support/thrown.js';
import { DomainError } from '../../kernel/index.js';
import { CODE_HOST_CATALOGUE } from './code-host-catalogue.js';
import { basePathOf, type CodeHostConfig, originOf } from './code-host-config.js';
import { readCodeHostConfig } from './code-host-config.reader.js';
import { CODE_HOST_CONFIG_SCHEMA } from './code-host-config.schema.js';
import { CODE_HOST_PLACES } from './code-host-keys.js';
import { CODE_HOST_TOOLS } from './code-host-tools.js';
import { isFineGrainedToken, refuseOtherTokens } from './code-host-token.js';

const read = (changes: JsonObject = {}, isProduction = true): CodeHostConfig =>
  readCodeHostConfig({ repositories: ['acme/shop'], ...changes }, { isProduction });
const refusal = (changes: JsonObject): DomainError => thrown(DomainError, () => read(changes));

it('the config of a code host has its defaults filled in', () =>
  expect(read()).toEqual({
    ...{ provider: 'github', repositories: ['acme/shop'], protected_branches: ['main', 'master'] },
    ...{ allow_workflows: false, merge_methods: ['merge', 'squash', 'rebase'], max_file_bytes: 196_608 },
  }));

it('a form has every key, with the defaults of the reader', () => {
  const { properties = {} } = CODE_HOST_CONFIG_SCHEMA;
  expect(Object.keys(properties).sort()).toEqual([...CODE_HOST_PLACES.config.keys].sort());
  const stored = read() as unknown as JsonObject;
  for (const [key, schema] of Object.entries(properties))
    if (schema.default !== undefined) expect(stored[key]).toEqual(schema.default);
});

describe('a config is refused', () => {
  it.each<[string, JsonObject, string]>([
    ['config.provider', { provider: 'gitlab' }, 'must be one of github.'],
    ['config.repositories', { repositories: [] }, 'must be a list of 1 to 64 entries.'],
    ['config.repositories[0]', { repositories: ['acme'] }, 'must be one repository, as owner/name.'],
    [
      'config.repositories[1]',
      { repositories: ['acme/shop', 'Acme/Shop'] },
      'is named twice: the case of letters counts for nothing.',
    ],
    [
      'config.protected_branches[0]',
      { protected_branches: ['refs/heads/main'] },
      'must be the name of a branch alone, without refs/ or heads/ before it. release/* stands for all below release/.',
    ],
    [
      'config.protected_branches[0]',
      { protected_branches: ['*'] },
      'must have letters, digits and . _ / + # - alone. release/* stands for all below release/.',
    ],
    ['config.protected_branches', { protected_branches: 'main' }, 'must be a list of 0 to 64 entries.'],
    ['config.allow_workflows', { allow_workflows: 'no' }, 'must be true or false.'],
    ['config.merge_methods[0]', { merge_methods: ['octopus'] }, 'must be one of merge, squash, rebase.'],
    ['config.merge_methods', { merge_methods: ['merge', 'merge'] }, 'must name each method once.'],
    ['config.max_file_bytes', { max_file_bytes: 196_609 }, 'must be an integer from 1 to 196608.'],
    ['config.base_url', { base_url: 'http://github.example.com' }, 'must begin with https://.'],
    [
      'config.base_url',
      { base_url: 'https://github.example.com/api/v3' },
      'must have no path: /api/v3 of an Enterprise Server is added.',
    ],
    ['config.base_url', { base_url: 'https://api.github.com' }, 'must be left out for github.com.'],
    ['config.base_url', { base_url: 'https://api.github.com.:443' }, 'must be left out for github.com.'],
    [
      'config.base_url',
      { base_url: 'https://acme.ghe.com' },
      'must name the host of the API: https://api.acme.ghe.com.',
    ],
    [
      'config.base_url',
      { base_url: 'https://acme.ghe.com.:8443' },
      'must name the host of the API: https://api.acme.ghe.com.',
    ],
    [
      'config.base_url',
      { base_url: 'https://u:p@github.example.com' },
      'must be the scheme, a host and where it needs one a port, and no path.',
    ],
    [
      'config.token',
      { token: 'x' },
      'is not a known key. Store the token with PUT /v1/connectors/{id}/credentials, where nobody can read it again.',
    ],
    [
      'config.branches',
      { branches: [] },
      'is not a known key. Known are provider, base_url, repositories, protected_branches, allow_workflows, merge_methods, max_file_bytes.',
    ],
  ])('in %s: %j', (param, changes, rule) =>
    expect(refusal(changes)).toMatchObject({ code: 'validation_failed', param, message: `${param} ${rule}` }),
  );

  it.each<[JsonValue, string]>([
    [[], 'config'],
    [{}, 'config.repositories'],
  ])('%j, in %s', (config, param) =>
    expect(thrown(DomainError, () => readCodeHostConfig(config, { isProduction: true }))).toMatchObject({ param }),
  );
});

it.each([
  [undefined, 'https://api.github.com', ''],
  ['https://github.example.com', 'https://github.example.com', '/api/v3'],
  ['https://api.acme.ghe.com', 'https://api.acme.ghe.com', ''],
  ['https://api.acme.ghe.com:443', 'https://api.acme.ghe.com:443', ''],
  ['https://API.acme.ghe.com:8443', 'https://API.acme.ghe.com:8443', ''],
])('calls with base_url %s go to %s%s', (base, origin, path) => {
  const config = read(base === undefined ? {} : { base_url: base });
  expect([originOf(config), basePathOf(config)]).toEqual([origin, path]);
});

describe('a token', () => {
  const body = `${'A'.repeat(22)}_${'b'.repeat(59)}`;
  it('that is fine-grained is good', () => {
    expect(() => refuseOtherTokens(`github_pat_${body}`)).not.toThrow();
    expect(isFineGrainedToken(`github_pat_${body}`)).toBe(true);
  });

  it.each([
    [`ghp_${'a'.repeat(36)}`, 'classic token'],
    [` ghp_${'a'.repeat(36)}`, 'classic token'],
    [`ghs_${'a'.repeat(36)}`, 'installed app'],
    [`gho_${'a'.repeat(36)}`, 'acts for a person'],
    [`ghu_${'a'.repeat(36)}`, 'acts for a person'],
    [`ghr_${'a'.repeat(36)}`, 'acts for a person'],
    [`github_pat_${body}\r\nX: y`, 'as it was issued'],
    ['github_pat_', 'as it was issued'],
    ['', 'as it was issued'],
  ])('%j is refused with what to do', (token, why) => {
    const refused = thrown(DomainError, () => refuseOtherTokens(token));
    expect(refused).toMatchObject({ code: 'validation_failed', param: 'secret.token' });
    expect(refused.message).toContain(why);
    expect(refused.message).toContain('Create a fine-grained token');
    expect(refused.message).not.toContain('aaaa');
  });
});

it('whoever sets a connector up is told of the default branch', () => {
  const [first = ''] = CODE_HOST_CATALOGUE.setup_steps;
  expect(first).toContain('protected_branches');
  expect(first).toContain('default branch');
});

describe('the guide', () => {
  const guide = readFileSync(new URL('../../../../../docs/connectors-code-host.md', import.meta.url), 'utf8');

  it('has an example that is taken', () => {
    const [, example = ''] = /```json\n([\s\S]*?)```/.exec(guide) ?? [];
    const { config } = JSON.parse(example) as { readonly config: JsonObject };
    expect(readCodeHostConfig(config, { isProduction: true })).toMatchObject(config);
  });

  it('has every key of the config, and every tool with what it does', () => {
    const rows = [...guide.matchAll(/^\| `([a-z_]+)` \| (read|write|destructive) \|/gm)].map(([, name, effect]) => [
      name,
      effect,
    ]);
    expect(rows).toEqual(CODE_HOST_TOOLS.map(({ name, sideEffect }) => [name, sideEffect]));
    for (const key of CODE_HOST_PLACES.config.keys) expect(guide).toContain(`| \`${key}\` |`);
  });
});
