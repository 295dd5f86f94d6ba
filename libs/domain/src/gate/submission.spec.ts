import { parseStrictJson, type JsonObject, type JsonPath, StrictJsonError } from '#libs/crypto';
import { describe, expect, it } from 'vitest';

import { type ActionRequest, canonicalRequest } from './submission.js';

const PROFILE = { maxBytes: 1_048_576, maxDepth: 64, integersOnly: false };
const LIMIT_MS = 60;
const TRIES = 5;

const requestOf = (args: string): ActionRequest => ({
  tool: 'crm.get_customer',
  args: parseStrictJson(Buffer.from(args), PROFILE) as JsonObject,
  mode: 'gateway',
  key: 'key_00000000000000000000000001' as ActionRequest['key'],
  livemode: true,
  idempotencyKey: null,
  onBehalfOf: null,
  session: null,
});

const refusedPath = (args: string): JsonPath | null => {
  try {
    canonicalRequest(requestOf(args));
    return null;
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    return error.path;
  }
};

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

describe('canonical request: arguments are at most 32 containers deep, the object itself included', () => {
  it('32 are accepted', () => expect(refusedPath(`{"a":${nested(31)}}`)).toBeNull());
  it('of 33 and more the path of the first that is too deep is named', () => {
    const inner = Array<string>(31).fill('0');
    expect(refusedPath(`{"a":${nested(32)}}`)).toEqual(['a', ...inner]);
    expect(refusedPath(`{"a":1,"b":{"c":[7,${nested(40)}]},"d":${nested(60)}}`)).toEqual([
      'b',
      'c',
      '1',
      ...inner.slice(2),
    ]);
  });
});

describe('canonical request: 256 KiB of arguments keep the process busy for a fraction of 100 ms', () => {
  const repeat = (count: number, item: (index: number) => string) => Array.from({ length: count }, (_, i) => item(i));

  it.each([
    ['integers', `{"a":[${repeat(129_000, () => '7').join()}]}`],
    ['lists in lists', `{"a":[${repeat(50_000, () => '[[]]').join()}]}`],
    ['objects', `{"a":[${repeat(32_000, () => '{"a":1}').join()}]}`],
    ['members', `{${repeat(20_000, (index) => `"k${index}":1`).join()}}`],
  ])('%s', (_, args) => {
    const request = requestOf(args);
    // The least of some runs: the first ones are cold, and a machine may be busy.
    const timesMs = Array.from({ length: TRIES }, () => {
      const before = process.cpuUsage();
      canonicalRequest(request);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    });
    expect(Math.min(...timesMs)).toBeLessThan(LIMIT_MS);
  });
});
