import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { decodeBase64url, encodeBase64url } from './base64url.js';
import { digestOf } from './digest.js';
import { canonicalBytes, canonicalize } from './jcs.js';
import { intentInput } from './intent-form.js';
import { checkSignedIntent, createSignedIntent } from './signed-intent.js';
import { ARGS_PROFILE, type JsonObject, parseStrictJson, StrictJsonError } from './strict-json.js';
import { ORG, OTHER_ORG } from './testing/given-chain.js';
import {
  AGENT,
  args,
  claims,
  facts,
  intent,
  judge,
  key,
  NOW,
  otherKey,
  signed,
  signedJson,
} from './testing/given-intent.js';

const parsedArgs = (text: string): JsonObject | StrictJsonError => {
  try {
    return parseStrictJson(Buffer.from(text), ARGS_PROFILE) as JsonObject;
  } catch (error) {
    if (error instanceof StrictJsonError) return error;
    throw error;
  }
};

describe('a signed intent', () => {
  const { header, intentHash } = createSignedIntent(claims, key);

  it('that fits its call is accepted, and its nonce is left to be consumed', () => {
    expect(checkSignedIntent([header], facts)).toEqual({
      ok: true,
      intent: Object.assign(Object.create(null) as object, intent),
      intentHash,
      nonce: claims.nonce,
      nonceNeededUntil: claims.exp + 60_001,
      onBehalfOf: null,
      session: null,
    });
  });

  it('is its canonical bytes and a signature over the tag, a line feed and their hash', () => {
    const [bytes = '', signature = ''] = header.split('.');
    expect(Buffer.from(decodeBase64url(bytes, 2_048)).toString()).toBe(canonicalize(intent));
    const message = Buffer.from(`service/intent/v1\n${digestOf(canonicalBytes(intent))}`);
    expect(key.publicKey.verify(message, decodeBase64url(signature, 64))).toBe(true);
  });

  it('is needed until check 9 refuses it by itself', () => {
    const verdict = checkSignedIntent([header], facts);
    const needed = verdict.ok ? verdict.nonceNeededUntil : 0;
    expect(judge(header, { now: needed - 1 })).toBe('accepted');
    expect(judge(header, { now: needed })).toBe('9 expired exp');
  });

  it('gets a fresh nonce when none is given', () => {
    const { org, agent, tool, args_digest, iat, exp } = claims;
    const fresh = { org, agent, tool, args_digest, iat, exp };
    const one = checkSignedIntent([createSignedIntent(fresh, key).header], facts);
    const other = checkSignedIntent([createSignedIntent(fresh, key).header], facts);
    expect(one.ok && other.ok && one.nonce !== other.nonce).toBe(true);
  });

  it('cannot be made of claims that no checker accepts', () => {
    expect(() => createSignedIntent({ ...claims, tool: 'Pay.refund' }, key)).toThrow('tool');
    expect(() => createSignedIntent({ ...claims, iat: 0 }, key)).toThrow('iat');
  });

  it('round-trips any claims that are well formed (property)', () => {
    const reference = fc.stringMatching(/^[A-Za-z0-9._~:@/+=-]{1,256}$/);
    const hex = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes).toString('hex'));
    fc.assert(
      fc.property(hex, fc.option(reference), fc.option(reference), (nonce, onBehalfOf, session) => {
        const references = {
          ...(onBehalfOf === null ? {} : { on_behalf_of: onBehalfOf }),
          ...(session === null ? {} : { session }),
        };
        const verdict = checkSignedIntent([createSignedIntent({ ...claims, ...references, nonce }, key).header], facts);
        expect(verdict).toMatchObject({ ok: true, nonce, onBehalfOf, session });
      }),
      { numRuns: 50 },
    );
  });
});

describe('check 1: syntax', () => {
  const { header } = createSignedIntent(claims, key);
  const [bytes = '', signature = ''] = header.split('.');
  it.each([
    ['nothing', []],
    ['two headers', [header, header]],
    ['an empty header', ['']],
    ['one part', [bytes]],
    ['three parts', [`${header}.`]],
    ['no intent', [`.${signature}`]],
    ['no signature', [`${bytes}.`]],
    ['padding', [`${header}==`]],
    ['the other alphabet', [`${bytes}.${'+'.repeat(86)}`]],
    ['a space', [` ${header}`]],
    ['a line break', [`${bytes}\n.${signature}`]],
    ['non-zero trailing bits', [`${bytes}.${signature.slice(0, -1)}B`]],
    ['a signature of 63 bytes', [`${bytes}.${encodeBase64url(new Uint8Array(63))}`]],
    ['a signature of 65 bytes', [`${bytes}.${encodeBase64url(new Uint8Array(65))}`]],
    ['a list of two', [`${header}, ${header}`]],
    ['ten megabytes', ['A'.repeat(10_000_000)]],
  ])('%s', (_name, headers) => {
    expect(judge(headers)).toBe('1 syntax Service-Intent');
  });
});

describe('checks 2 to 4: bytes', () => {
  const text = canonicalize(intent);
  it('2: 2,048 bytes are judged, 2,049 are too large', () => {
    const filled = (length: number): string => signed(Buffer.from(`${text}${' '.repeat(length - text.length)}`));
    expect(judge(filled(2_048))).toBe('4 not_canonical Service-Intent');
    expect(judge(filled(2_049))).toBe('2 too_large Service-Intent');
  });

  it.each([
    ['invalid UTF-8', Buffer.concat([Buffer.from(text.slice(0, -2)), Buffer.of(0xff), Buffer.from('"}')])],
    ['a byte order mark', Buffer.from(`\uFEFF${text}`)],
    ['a lone surrogate', Buffer.from(text.replace('pay.', '\\ud800.'))],
    ['a repeated field', Buffer.from(text.replace('"iat"', '"org":"x","iat"'))],
    ['a repeated field through an escape', Buffer.from(text.replace('"iat"', '"\\u006frg":"x","iat"'))],
    ['a fraction', Buffer.from(text.replace(/"iat":\d+/, '"iat":1.5'))],
    ['2^53', Buffer.from(text.replace(/"iat":\d+/, '"iat":9007199254740992'))],
    ['depth', Buffer.from(text.replace(/"iat":\d+/, '"iat":[[[[1]]]]'))],
    ['trailing bytes', Buffer.from(`${text}{}`)],
    ['no JSON', Buffer.from('intent')],
  ])('3: %s', (_name, bytes) => {
    expect(judge(signed(bytes))).toBe('3 strict Service-Intent');
  });

  it.each([
    ['a space', text.replace(',', ', ')],
    ['a line feed at the end', `${text}\n`],
    ['another order', text.replace(/^\{("agent":[^,]+),("args_digest":[^,]+)/, '{$2,$1')],
    ['1.0', text.replace(/"iat":(\d+)/, '"iat":$1.0')],
    ['an exponent', text.replace(/"iat":\d+/, '"iat":1e3')],
    ['an escaped letter', text.replace('pay.', 'p\\u0061y.')],
    ['an escaped solidus', text.replace('"v":"service.intent/1"', '"v":"service.intent\\/1"')],
    ['minus zero', text.replace(/"iat":\d+/, '"iat":-0')],
  ])('4: %s', (_name, twin) => {
    expect(twin).not.toBe(text);
    expect(judge(signed(Buffer.from(twin)))).toBe('4 not_canonical Service-Intent');
  });
});

describe('check 5: the closed schema', () => {
  const without = (field: string): JsonObject => {
    const copy: JsonObject = { ...intent };
    delete copy[field];
    return copy;
  };

  it.each(['v', 'org', 'agent', 'kid', 'tool', 'args_digest', 'nonce', 'iat', 'exp'])('%s is required', (field) => {
    expect(judge(signedJson(without(field)))).toBe(`5 schema ${field}`);
  });

  it.each<[string, unknown]>([
    ['v', 1],
    ['org', 'org_x'],
    ['agent', ORG],
    ['kid', 'A'.repeat(32)],
    ['tool', 'pay'],
    ['tool', 'p.refund'],
    ['tool', 'Pay.refund'],
    ['tool', 'pay..refund'],
    ['tool', 'pay.-refund'],
    ['tool', 'pay.réfund'],
    ['tool', `pay.${'x'.repeat(129)}`],
    ['args_digest', 'sha256:0'],
    ['nonce', '0'.repeat(31)],
    ['nonce', 'G'.repeat(32)],
    ['on_behalf_of', ''],
    ['on_behalf_of', 'a b'],
    ['on_behalf_of', 'x'.repeat(257)],
    ['session', null],
    ['session', 'a%'],
    ['iat', 0],
    ['iat', '1'],
    ['exp', -1],
  ])('%s may not be %j', (field, value) => {
    expect(judge(signedJson({ ...intent, [field]: value }))).toBe(`5 schema ${field}`);
  });

  it.each(['extra', 'alg', 'constructor', 'toString', '__proto__'])('%s is unknown', (field) => {
    const text = canonicalize(intent).replace('{', `{${JSON.stringify(field)}:1,`);
    const sorted = canonicalBytes(parseStrictJson(Buffer.from(text), ARGS_PROFILE));
    expect(judge(signed(sorted))).toBe(`5 schema ${field}`);
  });

  it('another version comes last', () => {
    expect(judge(signedJson({ ...intent, v: 'service.intent/2' }))).toBe('5 version v');
    expect(judge(signedJson({ ...intent, v: 'service.intent/2', exp: 0 }))).toBe('5 schema exp');
  });

  it('unknown fields come first, sorted, then missing ones, then wrong ones in the order of the fields', () => {
    expect(judge(signedJson({ ...without('v'), zebra: 1, apple: 1 }))).toBe('5 schema apple');
    expect(judge(signedJson({ ...without('exp'), org: 1 }))).toBe('5 schema exp');
    const order = ['v', 'org', 'agent', 'kid', 'tool', 'args_digest', 'nonce', 'on_behalf_of', 'session', 'iat', 'exp'];
    for (const [index, first] of order.entries()) {
      for (const second of order.slice(index + 1)) {
        expect(judge(signedJson({ ...intent, [first]: false, [second]: false }))).toBe(`5 schema ${first}`);
      }
    }
  });

  it.each(['[]', '"text"', 'null', '7'])('%s is no intent', (text) => {
    expect(judge(signed(Buffer.from(text)))).toBe('5 schema Service-Intent');
  });
});

describe('checks 6 to 8: who signed', () => {
  it('6: the organization and the agent are those of the API key', () => {
    expect(judge(signedJson({ ...intent, org: OTHER_ORG }))).toBe('6 org_mismatch org');
    expect(judge(signedJson({ ...intent, agent: AGENT.replace(/3$/, '4') }))).toBe('6 agent_mismatch agent');
    expect(judge(signedJson(intent), { org: OTHER_ORG, agent: 'x' })).toBe('6 org_mismatch org');
  });

  it('7: the key is registered for the agent', () => {
    const { header } = createSignedIntent(claims, key);
    expect(judge(header, { keys: [] })).toBe('7 unknown_kid kid');
    expect(judge(header, { keys: [otherKey.publicKey] })).toBe('7 unknown_kid kid');
    expect(judge(header, { keys: [otherKey.publicKey, key.publicKey] })).toBe('accepted');
  });

  const bytes = canonicalBytes(intent);
  const hash = digestOf(bytes);
  it.each([
    ['another key under the registered kid', signed(bytes, otherKey)],
    ['the hash without the tag', signed(bytes, key, Buffer.from(hash))],
    ['the tag of a deed', signed(bytes, key, Buffer.from(`service/deed/v1\n${hash}`))],
    ['the bytes themselves', signed(bytes, key, bytes)],
    ['another intent', signed(bytes, key, intentInput(digestOf('other')))],
    ['no nonce of the curve', `${encodeBase64url(bytes)}.${encodeBase64url(new Uint8Array(64))}`],
  ])('8: a signature over or by %s', (_name, header) => {
    expect(judge(header)).toBe('8 bad_signature kid');
  });

  it('8: any bit of the signature flipped', () => {
    const signature = key.sign(intentInput(hash));
    const verdicts = Array.from({ length: 512 }, (_, bit) => {
      const flipped = Uint8Array.from(signature, (byte, index) =>
        index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte,
      );
      return judge(`${encodeBase64url(bytes)}.${encodeBase64url(flipped)}`);
    });
    expect(new Set(verdicts)).toEqual(new Set(['8 bad_signature kid']));
  });
});

describe('check 9: when', () => {
  it.each([
    ['iat 60,000 ms ahead', 60_000, 120_000, 'accepted'],
    ['iat 60,001 ms ahead', 60_001, 120_001, '9 not_yet_valid iat'],
    ['exp 60,000 ms ago', -120_000, -60_000, 'accepted'],
    ['exp 60,001 ms ago', -120_001, -60_001, '9 expired exp'],
    ['a life of 300,000 ms', 0, 300_000, 'accepted'],
    ['a life of 300,001 ms', 0, 300_001, '9 ttl exp'],
    ['a life of 1 ms', 0, 1, 'accepted'],
    ['no life', 0, 0, '9 ttl exp'],
    ['a life of -1 ms', 0, -1, '9 ttl exp'],
    ['not yet valid and expired', 60_001, -60_001, '9 not_yet_valid iat'],
    ['expired and too long a life', -400_000, -60_001, '9 expired exp'],
  ])('%s', (_name, iat, exp, verdict) => {
    expect(judge(signedJson({ ...intent, iat: NOW + iat, exp: NOW + exp }))).toBe(verdict);
  });
});

describe('checks 10 and 11: what', () => {
  const { header } = createSignedIntent(claims, key);

  it.each(['pay.create_refunds', 'pay.Create_refund', 'рay.create_refund', 'pay.create.refund', ''])(
    '10: %j',
    (tool) => {
      expect(judge(header, { tool })).toBe('10 tool_mismatch tool');
    },
  );

  it.each([
    ['2^53', '{"n":9007199254740992}', 'big_int'],
    ['400 digits', `{"n":1${'0'.repeat(400)}}`, 'big_int'],
    ['1e400', '{"n":1e400}', 'args_not_canonicalizable'],
    ['depth 33', `${'{"a":'.repeat(32)}{}${'}'.repeat(32)}`, 'args_not_canonicalizable'],
    ['256 KiB and one byte', `{"a":"${'x'.repeat(262_144 - 7)}"}`, 'args_not_canonicalizable'],
    ['a repeated member', '{"a":1,"a":1}', 'args_not_canonicalizable'],
    ['a lone surrogate', '{"a":"\\udead"}', 'args_not_canonicalizable'],
  ])('11: arguments with %s', (_name, text, reason) => {
    expect(judge(header, { args: parsedArgs(text) })).toBe(`11 ${reason} args`);
  });

  it('11: other arguments', () => {
    expect(judge(header, { args: { ...args, amount: 501 } })).toBe('11 args_mismatch args_digest');
    expect(judge(header, { args: {} })).toBe('11 args_mismatch args_digest');
  });

  it.each(['{"n":-0}', '{"n":1e21}', '{"n":5e-324}', '{"n":0.1}', '{"n":1e-400}', '{"__proto__":{"a":1},"toJSON":1}'])(
    '11: %s has one digest, however it is spelled',
    (text) => {
      const value = parsedArgs(text) as JsonObject;
      const fitting = createSignedIntent({ ...claims, args_digest: digestOf(canonicalBytes(value)) }, key);
      expect(judge(fitting.header, { args: parsedArgs(` ${text} `) })).toBe('accepted');
    },
  );
});

describe('check 12: on whose behalf', () => {
  const verdictOf = (inIntent: [string | null, string | null], inHeader: [string | null, string | null]): string => {
    const [onBehalfOf, session] = inIntent;
    const references = {
      ...(onBehalfOf === null ? {} : { on_behalf_of: onBehalfOf }),
      ...(session === null ? {} : { session }),
    };
    const { header } = createSignedIntent({ ...claims, ...references }, key);
    return judge(header, { onBehalfOf: inHeader[0], session: inHeader[1] });
  };

  it.each<[string | null, string | null, string, string]>([
    [null, null, 'accepted', 'accepted'],
    ['a', null, 'accepted', 'accepted'],
    ['a', 'a', 'accepted', 'accepted'],
    ['a', 'b', '12 obo_mismatch Service-On-Behalf-Of', '12 session_mismatch Service-Session'],
    [null, 'a', '12 unsigned_obo Service-On-Behalf-Of', '12 unsigned_obo Service-Session'],
  ])('intent %s, header %s', (signedValue, sent, onBehalfOf, session) => {
    expect(verdictOf([signedValue, null], [sent, null])).toBe(onBehalfOf);
    expect(verdictOf([null, signedValue], [null, sent])).toBe(session);
  });

  it('the intent speaks when there is no header', () => {
    const { header } = createSignedIntent({ ...claims, on_behalf_of: 'a', session: 's' }, key);
    expect(checkSignedIntent([header], facts)).toMatchObject({ onBehalfOf: 'a', session: 's' });
  });

  it('a header that is not covered comes before one that differs, on_behalf_of before session', () => {
    expect(verdictOf([null, null], ['a', 'b'])).toBe('12 unsigned_obo Service-On-Behalf-Of');
    expect(verdictOf(['x', null], ['a', 'b'])).toBe('12 unsigned_obo Service-Session');
    expect(verdictOf(['x', 'y'], ['a', 'b'])).toBe('12 obo_mismatch Service-On-Behalf-Of');
  });
});
