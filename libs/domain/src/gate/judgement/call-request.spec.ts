import { ARGS_PROFILE, parseStrictJson, type JsonObject, type JsonPath, StrictJsonError } from '#libs/crypto';
import { describe, expect, it } from 'vitest';
import { dearObjects } from '../../../../crypto/src/testing/dear-json.js';
import { type ActionRequest, canonicalRequest } from './call-request.js';

const PROFILE = { maxBytes: 1_048_576, maxDepth: 64, integersOnly: false };

const requestOf = (args: string): ActionRequest => ({
  tool: 'crm.get_customer',
  args: parseStrictJson(Buffer.from(args), PROFILE) as JsonObject,
  mode: 'gateway',
  connectorType: null,
  key: 'key_00000000000000000000000001' as ActionRequest['key'],
  livemode: true,
  idempotencyKey: null,
  onBehalfOf: null,
  session: null,
  intent: [],
  trace: null,
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

describe('canonical request: the largest arguments that are accepted', () => {
  it.each(dearObjects(ARGS_PROFILE.maxBytes))('%s', (_, args) => {
    const { canonicalArgs } = canonicalRequest(requestOf(args.toString()));
    // Compared as bytes, because a failed comparison of texts would print a quarter of a million characters.
    expect(Buffer.from(canonicalArgs).equals(args)).toBe(true);
  });
});
