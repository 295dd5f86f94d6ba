// What libs/crypto uses of node:crypto to verify, for a browser: by @noble, because Web Crypto answers with promises alone.
import { ed25519 } from '@noble/curves/ed25519.js';
import { hmac } from '@noble/hashes/hmac.js';
import { sha256, sha512 } from '@noble/hashes/sha2.js';
import { Buffer } from './buffer.js';

const HASHES = { sha256, sha512 } as const;
type Algorithm = keyof typeof HASHES;
type Input = Uint8Array | string;

const bytesOf = (input: Input): Uint8Array => (typeof input === 'string' ? new TextEncoder().encode(input) : input);

const given = (bytes: Uint8Array, encoding?: string): Buffer | string => {
  const buffer = Buffer.from(bytes);
  return encoding === undefined || encoding === 'buffer' ? buffer : buffer.toString(encoding);
};

/** One-shot, as `crypto.hash`. */
export const hash = (algorithm: Algorithm, input: Input, encoding?: string): Buffer | string =>
  given(HASHES[algorithm](bytesOf(input)), encoding ?? 'hex');

interface Running {
  update(part: Input): Running;
  digest(encoding?: string): Buffer | string;
}

const running = (state: { update(part: Uint8Array): unknown; digest(): Uint8Array }): Running => {
  const self: Running = {
    update: (part) => {
      state.update(bytesOf(part));
      return self;
    },
    digest: (encoding) => given(state.digest(), encoding),
  };
  return self;
};

export const createHash = (algorithm: Algorithm): Running => running(HASHES[algorithm].create());

export const createHmac = (algorithm: Algorithm, key: Input): Running =>
  running(hmac.create(HASHES[algorithm], bytesOf(key)));

export const timingSafeEqual = (one: Uint8Array, other: Uint8Array): boolean =>
  Buffer.from(one).equals(Buffer.from(other));

export const randomBytes = (count: number): Buffer => Buffer.from(crypto.getRandomValues(new Uint8Array(count)));

interface PublicKey {
  readonly point: InstanceType<typeof ed25519.Point>;
}

/** How many multiples of a key are kept: 2^7 make a verification three times as fast, and take some 10 ms once. */
const WINDOW_BITS = 8;

/** Only what libs/crypto asks for: an Ed25519 key in JWK form, whose point it has judged. */
export const createPublicKey = ({ key }: { readonly key: { readonly x: string } }): PublicKey => {
  const point = ed25519.Point.fromBytes(Buffer.from(key.x, 'base64url'), false);
  point.precompute(WINDOW_BITS, false);
  return { point };
};

const KEY_BYTES = 32;

const littleEndian = (bytes: Uint8Array): bigint => {
  const hex = Buffer.from(Uint8Array.from(bytes).reverse()).toString('hex');
  return BigInt(`0x${hex}`);
};

/**
 * RFC 8032, section 5.1.7, without the cofactor, as OpenSSL verifies: R must be the very bytes of [S]B - [k]A.
 * Nothing here is secret, so that no operation needs one time for all inputs.
 */
export const verify = (_algorithm: null, message: Uint8Array, { point }: PublicKey, signature: Uint8Array): boolean => {
  const { Point } = ed25519;
  const encodedR = signature.subarray(0, KEY_BYTES);
  const s = littleEndian(signature.subarray(KEY_BYTES));
  if (s >= Point.Fn.ORDER) return false;
  const k = littleEndian(sha512(Buffer.concat([encodedR, point.toBytes(), message]))) % Point.Fn.ORDER;
  const r = Point.BASE.multiplyUnsafe(s).subtract(point.multiplyUnsafe(k));
  return Buffer.from(r.toBytes()).equals(encodedR);
};

const never = (): never => {
  throw new Error('This page verifies and signs nothing.');
};

export { never as createPrivateKey, never as generateKeyPairSync, never as sign };
