import { describe, expect, it, vi } from 'vitest';

import type { JsonObject } from '#libs/crypto';

import type { RestConfig, RestTool } from './rest-config.js';
import { readRestConfig } from './rest-config.reader.js';
import { PATTERN_LIMITS } from './rest-pattern.js';
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

describe('argument patterns: bounded when the config is saved (R-13)', () => {
  it('instructions times characters', () =>
    expect(() => read({ s: inBody(BOMB) })).toThrow(
      refusedAt(
        'config.tools[0].args.s.pattern',
        'Matching the arguments of this tool may take 39518208 steps; at most 1048576 are allowed. This pattern takes the ' +
          'most: 603 instructions on each of up to 65536 characters. Set a smaller max_length or write a simpler pattern.',
      ),
    ));

  it.each<[string, JsonObject]>([
    ['a max_length', { s: inBody(BOMB, { max_length: 1_000 }) }],
    ['a path', { id: { in: 'path', type: 'string', pattern: BOMB } }],
    ['a header', { s: { in: 'header', type: 'string', header: 'X-S', pattern: BOMB } }],
    ['few instructions', { s: inBody('^[0-9]+$'), t: inBody('^[a-z]+(?: [a-z]+)*$') }],
  ])('%s makes a pattern affordable', (_, args) => expect(() => read(args)).not.toThrow());

  it('instructions of one pattern, whatever its text may have', () =>
    expect(() => read({ s: inBody('(?:a?){1000}', { max_length: 1 }) })).toThrow(
      refusedAt('config.tools[0].args.s.pattern', expect.stringContaining('at most 1024 are allowed')),
    ));

  it('all patterns of a tool together, the dearest on as much text as a call may have matched', () => {
    const args = (pattern: string, rules: JsonObject = {}) =>
      Object.fromEntries(Array.from({ length: 32 }, (_, index) => [`a${index}`, inBody(pattern, rules)]));
    expect(() => read(args('^[0-9]+$'))).not.toThrow();
    expect(() => read(args('a{500}', { max_length: 100 }))).toThrow(refusedAt('config.tools[0].args.a0.pattern'));
  });
});

describe('argument patterns: bounded in a call (R-13)', () => {
  it('a text longer than what can be matched is refused by its name and never matched', () => {
    const config = read({ s: inBody('^[a😀]*$'), id: { in: 'path', type: 'string', pattern: 'a', required: true } });
    expect(build(config, { id: 'a', s: '😀'.repeat(PATTERN_LIMITS.matchedCharacters - 1) })).toMatchObject({
      ok: true,
    });
    expect(build(config, { id: 'a', s: 'a'.repeat(PATTERN_LIMITS.matchedCharacters + 1) })).toEqual({
      ok: false,
      fault: {
        param: 'args.s',
        message: 'args.s must have at most 65536 characters: arguments with a pattern have at most 65536 together.',
      },
    });
    expect(build(config, { id: 'a'.repeat(257), s: '' })).toMatchObject({ ok: false, fault: { param: 'args.id' } });
  });

  it('texts that are longer together than what can be matched are refused at the one that exceeds it', () => {
    const config = read({ s: inBody('^a*$'), free: { in: 'body', type: 'string' }, t: inBody('^b*$') });
    const args = { s: 'a'.repeat(40_000), free: 'x'.repeat(100_000), t: 'b'.repeat(25_536) };
    expect(build(config, args)).toMatchObject({ ok: true });
    expect(build(config, { ...args, t: `${args.t}b` })).toMatchObject({ ok: false, fault: { param: 'args.t' } });
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['nested repeats', { s: inBody('(a+)+$') }, { s: `${'a'.repeat(65_535)}!` }],
    ['optional repeats', { s: inBody(BOMB, { max_length: 1_700 }) }, { s: 'a'.repeat(1_700) }],
    [
      'more states than are kept',
      { s: inBody('[ab]*a[ab]{20}$', { max_length: 40_000 }) },
      { s: Array.from({ length: 40_000 }, (_, index) => ((index * index * 7_919) % 1_009 < 504 ? 'a' : 'b')).join('') },
    ],
  ])('the dearest pattern that is allowed takes less than 100 ms: %s', (_, rules, args) => {
    const config = read(rules);
    build(config, { s: 'a' });
    const started = process.cpuUsage();
    build(config, args);
    const { user, system } = process.cpuUsage(started);
    expect((user + system) / 1_000).toBeLessThan(100);
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
