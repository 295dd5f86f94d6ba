import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ed25519 } from '@noble/curves/ed25519.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ApprovalChallenge, approvalChallenge } from './approval-challenge.js';
import { encodeBase64url } from './base64url.js';
import {
  ASSERTION_FAULTS,
  type AssertionFault,
  type ExpectedAssertion,
  faultOfAssertion,
  type PasskeyAssertion,
  type PasskeyRegistration,
  signCountOf,
} from './passkey-assertion.js';

interface Vector {
  readonly name: string;
  readonly approval: ApprovalChallenge;
  readonly canonical: string;
  readonly challenge: string;
  readonly registration: PasskeyRegistration;
  readonly assertion: PasskeyAssertion;
  readonly expected: ExpectedAssertion;
  readonly fault: AssertionFault | null;
}

const { vectors } = JSON.parse(readFileSync('docs/signed-approvals.vectors.json', 'utf8')) as {
  readonly vectors: readonly Vector[];
};
const named = (name: string): Vector => vectors.find((vector) => vector.name === name) as Vector;
const ALGS = [
  [-7, named('ES256, approve')],
  [-8, named('EdDSA, approve')],
] as const;

const bytesIn = (text: string): Buffer => Buffer.from(text, 'base64url');
const changed = (text: string, at: number): string => {
  const bytes = bytesIn(text);
  const index = at < 0 ? bytes.length + at : at;
  bytes[index] = (bytes[index] as number) ^ 1;
  return bytes.toString('base64url');
};

describe('an assertion that another implementation made', () => {
  it.each(vectors.map((vector) => [vector.name, vector] as const))('%s', (_name, vector) => {
    const { assertion, registration, expected, fault, approval, canonical, challenge } = vector;
    expect(faultOfAssertion(assertion, registration, expected)).toBe(fault);
    expect(encodeBase64url(approvalChallenge(approval))).toBe(challenge);
    expect(createHash('sha256').update(canonical).digest('base64url')).toBe(challenge);
  });
});

describe('a challenge', () => {
  const { approval } = named('ES256, approve');
  const others: Readonly<Record<keyof ApprovalChallenge, string>> = {
    org: 'org_2',
    approval: 'apr_2',
    action: 'act_2',
    context_digest: 'sha256:0',
    decision: 'deny',
    user: 'usr_2',
  };

  it.each(Object.entries(others))('is another one where %s is', (member, value) => {
    const other = { ...approval, [member]: value };
    expect(approvalChallenge(other)).not.toEqual(approvalChallenge(approval));
  });

  it('has nothing in it that stands beside its members', () => {
    const more = { ...approval, more: 'said' };
    expect(approvalChallenge(more)).toEqual(approvalChallenge(approval));
  });
});

describe.each(ALGS)('an assertion of algorithm %i', (alg, { assertion, registration, expected }) => {
  it('is void with one bit changed, anywhere in it', () => {
    for (const part of ['authenticator_data', 'client_data_json', 'signature'] as const) {
      for (let at = 0; at < bytesIn(assertion[part]).length; at += part === 'client_data_json' ? 11 : 3) {
        const other = { ...assertion, [part]: changed(assertion[part], at) };
        expect(faultOfAssertion(other, registration, expected), `${part} ${at}`).not.toBe(null);
      }
    }
  });

  it('is void under one bit of another key', () => {
    for (const at of [0, 10, -32, -1]) {
      const other = { ...registration, public_key: changed(registration.public_key, at) };
      expect(['registration', 'signature']).toContain(faultOfAssertion(assertion, other, expected));
    }
  });

  it.each<readonly [string, Partial<Record<keyof PasskeyAssertion, unknown>>]>([
    ['a credential that could be guessed', { credential: 'AAAA' }],
    ['a credential too long', { credential: 'A'.repeat(1_368) }],
    ['nothing signed', { signature: '' }],
    ['a signature too long', { signature: 'A'.repeat(100) }],
    ['authenticator data cut short', { authenticator_data: 'A'.repeat(48) }],
    ['authenticator data too long', { authenticator_data: 'A'.repeat(1_368) }],
    ['client data too long', { client_data_json: 'A'.repeat(5_464) }],
    ['padding', { signature: `${assertion.signature}==` }],
    ['the other alphabet', { signature: assertion.signature.replace(/./, '+') }],
    ['a second spelling', { client_data_json: 'e31' }],
    ['a number', { client_data_json: 1 }],
    ['a list', { signature: ['A'] }],
    ['a member that nobody asked for', { more: 'A' } as object],
  ])('has no other form: %s', (_what, lie) => {
    expect(faultOfAssertion({ ...assertion, ...lie }, registration, expected)).toBe('form');
  });

  it.each<readonly [string, string]>([
    ['no JSON', 'not json'],
    ['null', 'null'],
    ['a number', '12'],
    ['a list', '[]'],
    ['lists in lists', '['.repeat(4_000)],
    ['a byte order mark', '\uFEFF{}'],
  ])('is void where the client data is %s', (_what, text) => {
    const client_data_json = Buffer.from(text).toString('base64url');
    expect(faultOfAssertion({ ...assertion, client_data_json }, registration, expected)).toBe('client_data');
  });

  it('is void where bytes stand in it that no flag tells of', () => {
    const authenticator_data = Buffer.concat([bytesIn(assertion.authenticator_data), Buffer.alloc(1)]);
    const other = { ...assertion, authenticator_data: encodeBase64url(authenticator_data) };
    expect(faultOfAssertion(other, registration, expected)).toBe('authenticator_data');
  });

  it.each<readonly [string, unknown]>([
    ['nothing', null],
    ['a text', 'key'],
    ['no key', { ...registration, public_key: '' }],
    ['a key of another kind', { ...registration, alg: -257 }],
    ['the algorithm as a text', { ...registration, alg: String(alg) }],
    ['the other algorithm', { ...registration, alg: alg === -7 ? -8 : -7 }],
    ['no credential', { ...registration, credential: null }],
  ])('is void under a registration that is none: %s', (_what, given) => {
    expect(faultOfAssertion(assertion, given, expected)).toBe('registration');
  });

  it('counts what the device counted', () => {
    const name = alg === -7 ? 'ES256' : 'EdDSA';
    expect(signCountOf(named(`${name}, deny, a device that counts`).assertion)).toBe(7);
    expect(signCountOf(assertion)).toBe(0);
  });
});

describe('a key', () => {
  const { assertion, registration, expected } = named('ES256, approve');
  const eddsa = named('EdDSA, approve');
  const spki = (begin: string, key: Uint8Array) => Buffer.concat([bytesIn(begin), key]).toString('base64url');
  const P256 = bytesIn(registration.public_key).subarray(0, 26).toString('base64url');
  const ED = bytesIn(eddsa.registration.public_key).subarray(0, 12).toString('base64url');

  it.each([
    ['beside the curve', Buffer.concat([Buffer.of(4), Buffer.alloc(64, 1)])],
    ['at infinity', Buffer.alloc(65)],
    ['in the compressed form', Buffer.concat([Buffer.of(2), Buffer.alloc(64, 1)])],
  ])('of P-256 is none %s', (_what, point) => {
    const given = { ...registration, public_key: spki(P256, point) };
    expect(faultOfAssertion(assertion, given, expected)).toBe('registration');
  });

  it.each([
    ['the identity', Buffer.from(`01${'00'.repeat(31)}`, 'hex')],
    ['of order two', Buffer.from(`ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f`, 'hex')],
    ['a second spelling', Buffer.from(`eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f`, 'hex')],
    [
      'of mixed order',
      ed25519.Point.BASE.add(
        ed25519.Point.fromHex(`ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f`),
      ).toBytes(),
    ],
  ])('of Ed25519 is none that is %s', (_what, point) => {
    const given = { ...eddsa.registration, public_key: spki(ED, point) };
    expect(faultOfAssertion(eddsa.assertion, given, eddsa.expected)).toBe('registration');
  });
});

describe('hostile input', () => {
  it('never throws, and is never taken', () => {
    const { registration, expected, assertion } = named('EdDSA, approve');
    const near = fc.record({
      authenticator_data: fc.oneof(fc.constant(assertion.authenticator_data), fc.string(), fc.base64String()),
      client_data_json: fc.oneof(
        fc.constant(assertion.client_data_json),
        fc.json().map((text) => Buffer.from(text).toString('base64url')),
      ),
      credential: fc.oneof(fc.constant(assertion.credential), fc.string()),
      signature: fc.uint8Array({ minLength: 60, maxLength: 72 }).map((bytes) => encodeBase64url(bytes)),
    });
    fc.assert(
      fc.property(fc.oneof(fc.anything(), near), fc.oneof(fc.anything(), fc.constant(registration)), (one, other) => {
        expect(ASSERTION_FAULTS).toContain(faultOfAssertion(one, other, expected));
      }),
      { numRuns: 300 },
    );
  });

  it('is told apart from good answers of OpenSSL, whatever the key', () => {
    for (let index = 0; index < 5; index += 1) {
      const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const credential = randomBytes(16).toString('base64url');
      const vector = named('ES256, approve');
      const authenticatorData = bytesIn(vector.assertion.authenticator_data);
      const clientHash = createHash('sha256').update(bytesIn(vector.assertion.client_data_json)).digest();
      const signature = sign('sha256', Buffer.concat([authenticatorData, clientHash]), pair.privateKey);
      const given = { ...vector.assertion, credential, signature: signature.toString('base64url') };
      const public_key = pair.publicKey.export({ format: 'der', type: 'spki' }).toString('base64url');
      expect(faultOfAssertion(given, { alg: -7, credential, public_key }, vector.expected)).toBe(null);
    }
  });
});
