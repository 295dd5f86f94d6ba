import { describe, expect, it, vi } from 'vitest';

import type { JsonObject } from '#libs/crypto';

import type { RestConfig, RestTool } from './rest-config.js';
import { readRestConfig } from './rest-config.reader.js';
import { buildRestRequest } from './rest-request.js';

const BOMB = '(?:a?){200}a{200}$';

const read = (args: JsonObject): RestConfig =>
  readRestConfig(
    {
      base_url: 'https://api.example.com',
      allowed_methods: ['POST'],
      allowed_path_prefixes: ['/v1'],
      tools: [{ name: 'tool', method: 'POST', path: args['id'] === undefined ? '/v1/x' : '/v1/{id}', args }],
    },
    { isProduction: true },
  );
const inBody = (pattern: string, rules: JsonObject = {}): JsonObject => ({
  in: 'body',
  type: 'string',
  pattern,
  ...rules,
});
const build = (config: RestConfig, args: JsonObject) =>
  buildRestRequest(config, config.tools[0] as RestTool, args, 'act_x');

const refusedAt = (param: string, message: unknown = expect.any(String)) =>
  expect.objectContaining({ code: 'validation_failed', status: 400, param, message });

describe('argument patterns: bounded when the config is saved (rule REST-8)', () => {
  it('instructions of one pattern, whatever its text may have', () =>
    expect(() => read({ s: inBody('(?:a?){1000}', { max_length: 1 }) })).toThrow(
      refusedAt('config.tools[0].args.s.pattern', expect.stringContaining('at most 1024 are allowed')),
    ));

  it.each([
    ['of a UUID', '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'],
    ['with many states', BOMB],
  ])('a pattern %s needs no max_length', (_, pattern) => expect(() => read({ s: inBody(pattern) })).not.toThrow());
});

describe('argument patterns: bounded in a call (rule REST-8)', () => {
  it('a text longer than its pattern can afford is refused by its name and never matched', () => {
    const config = read({ s: inBody(BOMB) });
    const fault = {
      param: 'args.s',
      message: 'args.s must have at most 1738 characters to be matched with its pattern.',
    };
    expect(build(config, { s: 'a'.repeat(1_738) })).toMatchObject({ ok: true });
    expect(build(config, { s: 'a'.repeat(1_739) })).toEqual({ ok: false, fault });
    expect(build(config, { s: '😀'.repeat(1_739) })).toEqual({ ok: false, fault });
  });

  it('texts that take too much together are refused at the one that exceeds it', () => {
    const config = read({ s: inBody(BOMB), free: { in: 'body', type: 'string' }, t: inBody('^b*$') });
    const args = { s: 'a'.repeat(1_700), free: 'x'.repeat(100_000), t: 'b'.repeat(3_000) };
    expect(build(config, args)).toMatchObject({ ok: true });
    expect(build(config, { ...args, t: 'b'.repeat(30_000) })).toMatchObject({ ok: false, fault: { param: 'args.t' } });
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['nested repeats', { s: inBody('(a+)+$') }, { s: `${'a'.repeat(65_535)}!` }],
    ['optional repeats', { s: inBody(BOMB) }, { s: 'a'.repeat(1_700) }],
    [
      'more states than are kept',
      { s: inBody('[ab]*a[ab]{20}$') },
      { s: Array.from({ length: 40_000 }, (_, index) => ((index * index * 7_919) % 1_009 < 504 ? 'a' : 'b')).join('') },
    ],
  ])('the dearest pattern that is allowed ends, where going back over its text would not: %s', (_, rules, args) => {
    const config = read(rules);
    expect(typeof build(config, args).ok).toBe('boolean');
  });

  it('each is compiled when the config is read and matched once a build', async () => {
    const { RE2JS } = await import('re2js');
    const config = read({ s: inBody('^[0-9]+$') });
    const compile = vi.spyOn(RE2JS, 'compile');
    const test = vi.spyOn(RE2JS.prototype, 'test');
    try {
      build(config, { s: '42' });
      expect([compile.mock.calls.length, test.mock.calls.length]).toEqual([0, 1]);
    } finally {
      compile.mockRestore();
      test.mockRestore();
    }
  });
});
