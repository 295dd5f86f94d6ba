import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { encodeBase64url } from './base64url.js';
import { checkArguments } from './call-arguments.js';
import { type Digest } from './digest.js';
import { parsePublicKeyText, SigningKey } from './ed25519.js';
import { checkSignedIntent, createSignedIntent, expectedForm, type IntentClaims } from './signed-intent.js';
import { ARGS_PROFILE, type JsonObject, parseStrictJson, StrictJsonError } from './strict-json.js';

interface Vectors {
  readonly key: {
    readonly seed_hex: string;
    readonly private_key: string;
    readonly public_key: string;
    readonly kid: string;
  };
  readonly caller: { readonly org: string; readonly agent: string };
  readonly example: Readonly<Record<string, string>> & { readonly claims: IntentClaims };
  readonly arguments: readonly { readonly text: string; readonly canonical: string; readonly digest: Digest }[];
  readonly checks: readonly {
    readonly name: string;
    readonly header: string;
    readonly call: {
      readonly tool: string;
      readonly args: string;
      readonly on_behalf_of: string | null;
      readonly session: string | null;
      readonly now: number;
    };
    readonly verdict: { readonly check: number; readonly reason: string; readonly param: string } | null;
  }[];
}

const DOCS = new URL('../../../docs/', import.meta.url);
const vectors = JSON.parse(readFileSync(new URL('signed-intents.vectors.json', DOCS), 'utf8')) as Vectors;
const page = readFileSync(new URL('signed-intents.md', DOCS), 'utf8');
const { key, caller, example } = vectors;

const argumentsOf = (text: string): JsonObject | StrictJsonError => {
  try {
    return parseStrictJson(Buffer.from(text), ARGS_PROFILE) as JsonObject;
  } catch (error) {
    if (error instanceof StrictJsonError) return error;
    throw error;
  }
};

describe('the published vectors of signed intents (docs/signed-intents.vectors.json)', () => {
  it('name the key in every form', () => {
    const signer = SigningKey.fromPkcs8Pem(key.private_key);
    expect([signer.publicKey.text, signer.publicKey.kid]).toEqual([key.public_key, key.kid]);
    expect(
      Buffer.from(key.private_key.split('\n')[1] as string, 'base64')
        .subarray(-32)
        .toString('hex'),
    ).toBe(key.seed_hex);
  });

  it('have an example that is made from its key, claims and arguments, byte by byte', () => {
    const { bytes, digest } = checkArguments(argumentsOf(example['args'] as string) as JsonObject);
    expect([Buffer.from(bytes).toString(), digest]).toEqual([example['args_canonical'], example['args_digest']]);
    const { header, intentHash } = createSignedIntent(example.claims, SigningKey.fromPkcs8Pem(key.private_key));
    expect([header, intentHash]).toEqual([example['header'], example['intent_hash']]);
    expect(header).toBe(`${encodeBase64url(Buffer.from(example['canonical'] as string))}.${example['signature']}`);
    const form = expectedForm([header]);
    expect(form && Buffer.from(form.canonical).toString()).toBe(example['canonical']);
    expect(form && Buffer.from(form.signedBytes).toString()).toBe(example['signed_bytes']);
  });

  it('have the example that the page prints', () => {
    const { claims, ...texts } = example;
    for (const text of [...Object.values(texts), claims.nonce as string, key.public_key, key.kid, key.seed_hex]) {
      expect(page).toContain(text);
    }
  });

  it.each(vectors.arguments)('arguments $text', ({ text, canonical, digest }) => {
    const read = checkArguments(argumentsOf(text) as JsonObject);
    expect([Buffer.from(read.bytes).toString(), read.digest]).toEqual([canonical, digest]);
  });

  it.each(vectors.checks)('$name: $verdict.reason', ({ header, call, verdict }) => {
    const judged = checkSignedIntent([header], {
      ...caller,
      keys: [parsePublicKeyText(key.public_key)],
      now: call.now,
      tool: call.tool,
      args: argumentsOf(call.args),
      onBehalfOf: call.on_behalf_of,
      session: call.session,
    });
    expect(judged.ok ? null : { check: judged.check, reason: judged.reason, param: judged.param }).toEqual(verdict);
  });

  it('fail each of the twelve checks at least once', () => {
    const failed = vectors.checks.flatMap(({ verdict }) => (verdict === null ? [] : [verdict.check]));
    expect([...new Set(failed)].sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  });
});

describe('the form that a checker expects', () => {
  it('is told of an intent that is not in it', () => {
    const intent = encodeBase64url(Buffer.from('{ "b": 1, "a": 2 }'));
    const form = expectedForm([`${intent}.${'A'.repeat(86)}`]);
    expect(form && Buffer.from(form.canonical).toString()).toBe('{"a":2,"b":1}');
  });

  it.each([
    ['of two parts is missing', ['a']],
    ['of 2,048 bytes is too long', [`${encodeBase64url(Buffer.from('"'.padEnd(2_049, '"')))}.${'A'.repeat(86)}`]],
    ['of JSON is none', [`${encodeBase64url(Buffer.from('{'))}.${'A'.repeat(86)}`]],
    ['is there twice', ['a.b', 'a.b']],
  ])('there is none where what %s', (_, header) => {
    expect(expectedForm(header)).toBeNull();
  });
});
