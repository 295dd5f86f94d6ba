import { describe, expect, it } from 'vitest';

import type { JsonObject } from '#libs/crypto';

import { config, refusal, tool, withTool } from './testing/given-rest-config.js';

const without = (key: string, object: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));

const withArgument = (changes: JsonObject): JsonObject =>
  withTool({ args: { x: { in: 'query', type: 'string', ...changes } } });

describe('REST config: a key that is not known', () => {
  it.each<[string, JsonObject, string]>([
    ['config.timout_ms', config({ timout_ms: 5_000 }), 'Did you mean timeout_ms?'],
    ['config.auth.knd', config({ auth: { knd: 'bearer' } }), 'Did you mean kind?'],
    ['config.test.paht', config({ test: { path: '/v1/x', paht: '/v1' } }), 'Did you mean path?'],
    ['config.tools[0].descripton', withTool({ descripton: 'x' }), 'Did you mean description?'],
    ['config.tools[0].timout_ms', withTool({ timout_ms: 5_000 }), 'Did you mean timeout_ms, a key of config?'],
    ['config.tools[0].args.x.sensitve', withArgument({ sensitve: true }), 'Did you mean sensitive?'],
    [
      'config.tools[0].args.x.idempotnt',
      withArgument({ idempotnt: true }),
      'Did you mean idempotent, a key of config.tools[]?',
    ],
    ['config.auth.token', config({ auth: { token: 'x' } }), 'Known are kind, header, param.'],
  ])('%s: the message says which one was probably meant, or what there is', (param, sent, next) =>
    expect(refusal(sent)).toMatchObject({ param, message: `${param} is not a known key. ${next}` }),
  );

  it.each([
    ['allowed_path_prefix', 'allowed_path_prefixes', ['/v1']],
    ['allowed_method', 'allowed_methods', ['GET']],
  ])('%s: is named before what follows from it', (sent, meant, value) => {
    const { param, message } = refusal({ ...without(meant, config()), [sent]: value });
    expect({ param, message }).toEqual({
      param: `config.${sent}`,
      message: `config.${sent} is not a known key. Did you mean ${meant}? The config has 2 more problems.`,
    });
  });
});

describe('REST config: of several problems', () => {
  it('the first that was sent is named, in the order sent', () =>
    expect(refusal({ redirects: 'x', tools: [tool({ side_effect: 'x' })], timeout_ms: 1, ...config() })).toMatchObject({
      param: 'config.redirects',
    }));

  it('what was sent comes before what is missing', () =>
    expect(
      refusal({ ...without('base_url', config()), tools: [without('name', tool({ side_effect: 'x' }))] }),
    ).toMatchObject({ param: 'config.tools[0].side_effect' }));

  it('what is missing is named where nothing else is wrong', () =>
    expect(refusal(without('base_url', config()))).toMatchObject({ param: 'config.base_url' }));
});
