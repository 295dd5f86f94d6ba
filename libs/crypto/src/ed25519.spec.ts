import { ed25519 } from '@noble/curves/ed25519.js';
import fc from 'fast-check';
import { createPublicKey, generateKeyPairSync, hash, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { gunzipSync } from 'node:zlib';

import { encodeBase64url } from './base64url.js';
import {
  parsePublicKey,
  parsePublicKeyText,
  PrivateKeyError,
  PublicKeyError,
  SigningKey,
  type VerifiedPublicKey,
} from './ed25519.js';

const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** A private key from its 32-byte seed, in the PKCS#8 frame of RFC 8410 section 7. */
const keyOf = (seed: Uint8Array): SigningKey => {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
  return SigningKey.fromPkcs8Pem(`-----BEGIN PRIVATE KEY-----\n${der.toString('base64')}\n-----END PRIVATE KEY-----\n`);
};

const refusal = (action: () => unknown): string => {
  try {
    action();
  } catch (error) {
    if (error instanceof PublicKeyError) return error.reason;
    throw error;
  }
  throw new Error('the key was accepted');
};

/** Both verdicts of a key, which must be one. */
const verdict = (key: VerifiedPublicKey, message: Uint8Array, signature: Uint8Array): boolean => {
  const bulk = key.verify(message, signature);
  // Before there is a table of the key's multiples, and with it.
  for (let use = 0; use < 5; use += 1) expect(key.verifyTwice(message, signature)).toBe(bulk);
  return bulk;
};

// RFC 8032 section 7.1, TEST 1, 2, 3 and SHA(abc).
const RFC_8032 = [
  {
    seed: '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    key: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    message: '',
    signature:
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  },
  {
    seed: '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
    key: '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    message: '72',
    signature:
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  },
  {
    seed: 'c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7',
    key: 'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
    message: 'af82',
    signature:
      '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
  },
  {
    seed: '833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42',
    key: 'ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf',
    message:
      'ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f',
    signature:
      'dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704',
  },
];

describe('Ed25519', () => {
  it.each(RFC_8032)('RFC 8032: $key', ({ seed, key, message, signature }) => {
    const signer = keyOf(bytesOf(seed));
    expect(hexOf(signer.publicKey.bytes)).toBe(key);
    expect(hexOf(signer.sign(bytesOf(message)))).toBe(signature);
    expect(verdict(parsePublicKey(bytesOf(key)), bytesOf(message), bytesOf(signature))).toBe(true);
  });

  it('verifies what it signs and nothing else (property)', () => {
    const signer = SigningKey.generate();
    const other = SigningKey.generate();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(511), (message, bit) => {
        const signature = signer.sign(message);
        const flipped = Uint8Array.from(signature, (byte, index) =>
          index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte,
        );
        expect(verdict(signer.publicKey, message, signature)).toBe(true);
        expect(verdict(signer.publicKey, message, flipped)).toBe(false);
        expect(verdict(signer.publicKey, Uint8Array.from([...message, 0]), signature)).toBe(false);
        expect(verdict(other.publicKey, message, signature)).toBe(false);
      }),
      { numRuns: 50 },
    );
  });

  it('says the same on a thread of the pool', async () => {
    const signer = SigningKey.generate();
    const message = Buffer.from('message');
    const signature = signer.sign(message);
    expect(await signer.publicKey.verifyInPool(message, signature)).toBe(true);
    expect(await signer.publicKey.verifyInPool(Buffer.from('massage'), signature)).toBe(false);
    expect(await signer.publicKey.verifyInPool(message, signature.subarray(1))).toBe(false);
  });
});

describe('Ed25519 keys', () => {
  const key = parsePublicKey(bytesOf(RFC_8032[0]?.key ?? ''));

  it('have one text, one kid and one fingerprint', () => {
    const digest = hash('sha256', Buffer.from(key.bytes), 'hex');
    expect(key.text).toBe('ed25519:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo');
    expect(key.kid).toBe(digest.slice(0, 32));
    expect(key.fingerprint).toBe(`sha256:${digest}`);
    expect(parsePublicKeyText(key.text).kid).toBe(key.kid);
  });

  it('give away copies only', () => {
    key.bytes.fill(0);
    expect(hexOf(key.bytes)).toBe(RFC_8032[0]?.key);
  });

  it('are judged once, and keep nothing of the bytes they were given', () => {
    const bytes = bytesOf(RFC_8032[1]?.key ?? '');
    const judged = parsePublicKey(bytes);
    expect(parsePublicKey(Uint8Array.from(bytes))).toBe(judged);
    bytes.fill(0);
    expect(hexOf(judged.bytes)).toBe(RFC_8032[1]?.key);
    expect(refusal(() => parsePublicKey(bytes))).toBe('small_order');
    expect(refusal(() => parsePublicKey(bytes))).toBe('small_order');
  });

  it('travel as PKCS#8 PEM', () => {
    const signer = SigningKey.generate();
    expect(SigningKey.fromPkcs8Pem(signer.toPkcs8Pem()).publicKey.text).toBe(signer.publicKey.text);
  });

  it.each([
    ['no PEM', 'secret'],
    [
      'an RSA key',
      generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
    ],
    ['an X25519 key', generateKeyPairSync('x25519').privateKey.export({ type: 'pkcs8', format: 'pem' })],
    ['a public key', generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' })],
    [
      'an encrypted key',
      generateKeyPairSync('ed25519').privateKey.export({
        type: 'pkcs8',
        format: 'pem',
        cipher: 'aes-256-cbc',
        passphrase: 'p',
      }),
    ],
  ])('are refused when the file is %s', (_name, pem) => {
    expect(() => SigningKey.fromPkcs8Pem(pem.toString())).toThrow(PrivateKeyError);
  });

  it('show no secret when they are logged', () => {
    const signer = SigningKey.generate();
    const secret = signer.toPkcs8Pem().split('\n')[1] ?? '';
    expect(JSON.stringify({ signer })).toBe(`{"signer":"${signer.publicKey.text}"}`);
    expect(inspect(signer, { depth: 9, showHidden: true })).not.toContain(secret.slice(24, 40));
  });
});

describe('Ed25519 attacks: keys', () => {
  // The eight points of small order in canonical form, by their order 1, 2, 4, 4, 8, 8, 8, 8.
  const SMALL_ORDER = [
    '0100000000000000000000000000000000000000000000000000000000000000',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    '0000000000000000000000000000000000000000000000000000000000000000',
    '0000000000000000000000000000000000000000000000000000000000000080',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
  ];
  // Second spellings: x = 0 with its sign bit set, and y written as y + p.
  const NOT_CANONICAL = [
    '0100000000000000000000000000000000000000000000000000000000000080',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
    'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
    'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
    'f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  ];

  it.each(SMALL_ORDER)('small order: %s', (hex) => {
    expect(refusal(() => parsePublicKey(bytesOf(hex)))).toBe('small_order');
  });

  it.each(NOT_CANONICAL)('second spelling: %s', (hex) => {
    expect(refusal(() => parsePublicKey(bytesOf(hex)))).toBe('not_canonical');
  });

  it('off the curve', () => {
    expect(refusal(() => parsePublicKey(bytesOf(`02${'00'.repeat(31)}`)))).toBe('off_curve');
  });

  it('mixed order: an honest key plus a point of order 8', () => {
    const torsion = ed25519.Point.fromHex(SMALL_ORDER[4] ?? '');
    const mixed = ed25519.Point.fromBytes(SigningKey.generate().publicKey.bytes).add(torsion).toBytes();
    expect(refusal(() => parsePublicKey(mixed))).toBe('mixed_order');
  });

  it.each([31, 33, 0])('%i bytes', (length) => {
    expect(refusal(() => parsePublicKey(new Uint8Array(length)))).toBe('length');
  });

  it.each([
    '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
    'ED25519:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
    'ed25519:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
    'ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo',
    'ed25519:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURp',
    'ed25519:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURoA',
  ])('text %s', (text) => {
    expect(refusal(() => parsePublicKeyText(text))).toBe('text');
  });

  it('would matter: under the identity point OpenSSL takes one signature for every message', () => {
    const native = createPublicKey({
      key: { kty: 'OKP', crv: 'Ed25519', x: encodeBase64url(bytesOf(SMALL_ORDER[0] ?? '')) },
      format: 'jwk',
    });
    const forged = bytesOf(`01${'00'.repeat(63)}`);
    expect(verify(null, Buffer.from('any message'), native, forged)).toBe(true);
  });
});

describe('Ed25519 attacks: signatures', () => {
  const message = Buffer.from('pay 5 usd');
  const order = ed25519.Point.Fn.ORDER;
  const seed = bytesOf(RFC_8032[1]?.seed ?? '');
  const key = keyOf(seed).publicKey;
  const { scalar } = ed25519.utils.getExtendedPublicKey(seed);

  const littleEndian = (value: bigint): Uint8Array => bytesOf(value.toString(16).padStart(64, '0')).reverse();

  /** What only the holder of the key can make: a signature with a chosen nonce and a chosen addend to R. */
  const forge = (nonce: bigint, addend: InstanceType<typeof ed25519.Point>): Uint8Array => {
    const base = nonce === 0n ? ed25519.Point.ZERO : ed25519.Point.BASE.multiply(nonce);
    const r = base.add(addend).toBytes();
    const challenge = hash('sha512', Buffer.concat([r, key.bytes, message]), 'buffer');
    const k = BigInt(`0x${hexOf(challenge.reverse())}`) % order;
    return Buffer.concat([r, littleEndian((nonce + k * scalar) % order)]);
  };

  it('the forge makes valid signatures when it adds nothing', () => {
    expect(verdict(key, message, forge(12_345n, ed25519.Point.ZERO))).toBe(true);
  });

  it('S + L', () => {
    const valid = keyOf(seed).sign(message);
    const s = BigInt(`0x${hexOf(Uint8Array.from(valid.subarray(32)).reverse())}`);
    expect(verdict(key, message, Buffer.concat([valid.subarray(0, 32), littleEndian(s + order)]))).toBe(false);
  });

  it('R of small order: the identity, which a nonce of zero makes', () => {
    const signature = forge(0n, ed25519.Point.ZERO);
    expect(ed25519.verify(signature, message, key.bytes, { zip215: false })).toBe(true);
    expect(verdict(key, message, signature)).toBe(false);
  });

  it('R with a part of small order, which a verifier with the cofactor accepts', () => {
    const torsion = ed25519.Point.fromHex('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05');
    const signature = forge(12_345n, torsion);
    expect(ed25519.verify(signature, message, key.bytes, { zip215: false })).toBe(true);
    expect(verdict(key, message, signature)).toBe(false);
  });

  it('R in a second spelling', () => {
    const signature = Uint8Array.from(forge(0n, ed25519.Point.ZERO));
    signature[31] = 0x80;
    expect(verdict(key, message, signature)).toBe(false);
  });

  it.each([0, 63, 65, 128])('%i bytes', (length) => {
    expect(verdict(key, message, new Uint8Array(length))).toBe(false);
  });
});

const VECTORS = process.env['VECTORS_DIR'];

describe.skipIf(VECTORS === undefined)('Ed25519 vectors (set VECTORS_DIR to run)', () => {
  interface Wycheproof {
    testGroups: {
      publicKey: { pk: string };
      tests: { tcId: number; msg: string; sig: string; result: 'valid' | 'invalid' }[];
    }[];
  }
  const read = (...path: string[]): Buffer => readFileSync(join(VECTORS ?? '', ...path));

  it('Wycheproof: every verdict, in both verifiers', () => {
    const { testGroups } = JSON.parse(read('wycheproof', 'ed25519_test.json').toString()) as Wycheproof;
    const cases = testGroups.flatMap(({ publicKey, tests }) => tests.map((test) => ({ ...test, pk: publicKey.pk })));
    expect(cases.length).toBeGreaterThan(100);
    for (const { tcId, pk, msg, sig, result } of cases) {
      const isValid = verdict(parsePublicKey(bytesOf(pk)), bytesOf(msg), bytesOf(sig));
      expect({ tcId, isValid }).toEqual({ tcId, isValid: result === 'valid' });
    }
  });

  it('sign.input: 1,024 keys, messages and signatures', () => {
    const lines = gunzipSync(read('ed25519', 'djb_sign_input_1024.txt.gz')).toString().trim().split('\n');
    expect(lines).toHaveLength(1_024);
    for (const line of lines) {
      const [secret = '', publicKey = '', message = '', signed = ''] = line.split(':');
      const signer = keyOf(bytesOf(secret.slice(0, 64)));
      expect(hexOf(signer.publicKey.bytes)).toBe(publicKey);
      expect(hexOf(signer.sign(bytesOf(message)))).toBe(signed.slice(0, 128));
      expect(signer.publicKey.verify(bytesOf(message), bytesOf(signed.slice(0, 128)))).toBe(true);
    }
  });
});
