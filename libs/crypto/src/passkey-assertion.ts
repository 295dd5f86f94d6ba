import { ed25519 } from '@noble/curves/ed25519.js';
import { p256 } from '@noble/curves/nist.js';
import { sha256 } from '@noble/hashes/sha2.js';

/** What a device answered when it signed (WebAuthn level 3, section 6.3.3), each in base64url. */
export interface PasskeyAssertion {
  readonly authenticator_data: string;
  readonly client_data_json: string;
  readonly credential: string;
  readonly signature: string;
}

/** Of the data of a deed `passkey.registered`: which passkey it is, and how it signs. */
export interface PasskeyRegistration {
  /** As COSE numbers it (RFC 9053): -7, which is ES256 on P-256, or -8, which is EdDSA on Ed25519. */
  readonly alg: number;
  readonly credential: string;
  /** Base64url of the SubjectPublicKeyInfo (DER). */
  readonly public_key: string;
}

/** What a reader knows without the assertion. */
export interface ExpectedAssertion {
  /** Base64url of the bytes that the device was to sign. */
  readonly challenge: string;
  /** The host name that the passkey is for. */
  readonly rp_id: string;
  /** The page's; null where the reader knows the host alone: then any page at this host, over https or on localhost. */
  readonly origin: string | null;
}

/** Why an assertion proves nothing. Closed, and judged in this order. */
export const ASSERTION_FAULTS = [
  ...(['form', 'registration', 'credential'] as const),
  ...(['client_data', 'type', 'challenge', 'origin', 'framed'] as const),
  ...(['authenticator_data', 'rp_id', 'not_present', 'not_verified'] as const),
  'signature',
] as const;
export type AssertionFault = (typeof ASSERTION_FAULTS)[number];

/** In bytes. A credential id has at most 1,023 (WebAuthn level 3, section 4); a shorter one than 16 could be guessed. */
const CREDENTIAL_BYTES = { min: 16, max: 1_023 } as const;
const CLIENT_DATA_BYTES = { min: 2, max: 4_096 } as const;
/** Hash of the host name, flags, sign count; more where extensions say something. */
const AUTHENTICATOR_DATA_BYTES = { min: 37, max: 1_024 } as const;
/** An Ed25519 signature has 64, a P-256 one in DER at most 72. */
const SIGNATURE_BYTES = { min: 8, max: 72 } as const;

const HASH_BYTES = 32;
const FLAGS_AT = 32;
const COUNT_AT = 33;
const IS_PRESENT = 0x01;
const IS_VERIFIED = 0x04;
/** Attested credential data, and extensions: where a flag is unset, nothing stands behind the count. */
const HAS_MORE = 0xc0;

/**
 * Whether a passkey signed this challenge, with its person verified, for a page of this site and no frame of another (WebAuthn level 3,
 * section 7.2). Pure, and without a runtime's own cryptography, so that a reader has it offline and in a browser.
 *
 * It says nothing of the time: whether the passkey was registered then, and not removed, the chain says. And nothing of
 * the sign count, which {@link signCountOf} reads.
 * @param assertion @param registration whatever somebody gave: nothing in it is believed, and nothing throws
 * @returns null where it does
 */
export const faultOfAssertion = (
  assertion: unknown,
  registration: unknown,
  expected: ExpectedAssertion,
): AssertionFault | null => {
  const signed = readAssertion(assertion);
  if (signed === null) return 'form';
  const key = readRegistration(registration);
  if (key === null) return 'registration';
  if (key.credential !== signed.credential) return 'credential';
  return (
    clientDataFault(signed.clientData, expected) ??
    authenticatorFault(signed.authenticatorData, expected) ??
    (key.verifies(signed.signature, concat(signed.authenticatorData, sha256(signed.clientData))) ? null : 'signature')
  );
};

/** How often the device says that it has signed; 0 where it counts nothing. Of an assertion without a fault. */
export const signCountOf = ({ authenticator_data }: PasskeyAssertion): number => {
  const bytes = bytesOf(authenticator_data, AUTHENTICATOR_DATA_BYTES);
  return bytes === null ? 0 : new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(COUNT_AT);
};

interface ReadAssertion {
  readonly credential: string;
  readonly authenticatorData: Uint8Array;
  readonly clientData: Uint8Array;
  readonly signature: Uint8Array;
}

const ASSERTION_MEMBERS = 4;

/** Exactly the four members: what nobody checks must not stand beside what is checked. */
const readAssertion = (given: unknown): ReadAssertion | null => {
  if (!isRecord(given) || Object.keys(given).length !== ASSERTION_MEMBERS) return null;
  const { credential, authenticator_data, client_data_json, signature } = given;
  const authenticatorData = bytesOf(authenticator_data, AUTHENTICATOR_DATA_BYTES);
  const clientData = bytesOf(client_data_json, CLIENT_DATA_BYTES);
  const signatureBytes = bytesOf(signature, SIGNATURE_BYTES);
  if (bytesOf(credential, CREDENTIAL_BYTES) === null) return null;
  if (authenticatorData === null || clientData === null || signatureBytes === null) return null;
  return { credential: credential as string, authenticatorData, clientData, signature: signatureBytes };
};

const clientDataFault = (bytes: Uint8Array, { challenge, rp_id, origin }: ExpectedAssertion): AssertionFault | null => {
  const said = parsed(bytes);
  if (!isRecord(said)) return 'client_data';
  if (said['type'] !== 'webauthn.get') return 'type';
  if (said['challenge'] !== challenge) return 'challenge';
  const isOurs = origin === null ? isPageAt(said['origin'], rp_id) : said['origin'] === origin;
  if (!isOurs) return 'origin';
  const { crossOrigin = false, topOrigin } = said;
  return crossOrigin !== false || topOrigin !== undefined ? 'framed' : null;
};

/** Browsers write an origin in one way: no default port, no path, a host in lower case. */
const isPageAt = (origin: unknown, host: string): boolean => {
  if (typeof origin !== 'string') return false;
  const [scheme, rest = ''] = [origin.slice(0, origin.indexOf('://')), origin.slice(origin.indexOf('://') + 3)];
  const [name, port, ...more] = rest.split(':');
  if (name !== host || more.length > 0 || (port !== undefined && !/^[1-9]\d{0,4}$/.test(port))) return false;
  return scheme === 'https' || (scheme === 'http' && host === 'localhost');
};

const authenticatorFault = (bytes: Uint8Array, { rp_id }: ExpectedAssertion): AssertionFault | null => {
  const flags = bytes[FLAGS_AT] as number;
  const isWhole = (flags & HAS_MORE) !== 0 || bytes.byteLength === AUTHENTICATOR_DATA_BYTES.min;
  if (!isWhole) return 'authenticator_data';
  if (!areSame(bytes.subarray(0, HASH_BYTES), sha256(new TextEncoder().encode(rp_id)))) return 'rp_id';
  if ((flags & IS_PRESENT) === 0) return 'not_present';
  return (flags & IS_VERIFIED) === 0 ? 'not_verified' : null;
};

interface ReadKey {
  readonly credential: string;
  readonly verifies: (signature: Uint8Array, message: Uint8Array) => boolean;
}

const SPKI_BYTES = { min: 44, max: 91 } as const;
/** SubjectPublicKeyInfo up to the key itself: RFC 5480 (P-256, a point without compression) and RFC 8410 (Ed25519). */
const P256_SPKI = hexBytes('3059301306072a8648ce3d020106082a8648ce3d030107034200');
const ED25519_SPKI = hexBytes('302a300506032b6570032100');
const P256_POINT_BYTES = 65;
const ED25519_POINT_BYTES = 32;

const readRegistration = (given: unknown): ReadKey | null => {
  if (!isRecord(given)) return null;
  const { alg, credential, public_key } = given;
  const spki = bytesOf(public_key, SPKI_BYTES);
  if (spki === null || bytesOf(credential, CREDENTIAL_BYTES) === null) return null;
  const verifies = alg === -7 ? es256(spki) : alg === -8 ? eddsa(spki) : null;
  return verifies && { credential: credential as string, verifies };
};

const es256 = (spki: Uint8Array): ReadKey['verifies'] | null => {
  const point = behind(spki, P256_SPKI, P256_POINT_BYTES);
  if (point === null || attempt(() => p256.Point.fromBytes(point)) === null) return null;
  // Devices do not keep to the lower of the two values of S.
  return (signature, message) =>
    attempt(() => p256.verify(signature, message, point, { format: 'der', lowS: false, prehash: true })) ?? false;
};

/**
 * As everywhere in this library (ed25519.ts): the key in the prime-order group, R a canonical point other than the identity, and the
 * equation without the cofactor. The last follows from R lying in that group, too.
 */
const eddsa = (spki: Uint8Array): ReadKey['verifies'] | null => {
  const bytes = behind(spki, ED25519_SPKI, ED25519_POINT_BYTES);
  const point = bytes && attempt(() => ed25519.Point.fromBytes(bytes, false));
  if (bytes === null || point === null || point.is0() || !point.isTorsionFree()) return null;
  return (signature, message) =>
    attempt(() => {
      const r = ed25519.Point.fromBytes(signature.subarray(0, ED25519_POINT_BYTES), false);
      return !r.is0() && r.isTorsionFree() && ed25519.verify(signature, message, bytes, { zip215: false });
    }) ?? false;
};

/** The bytes behind the beginning, where there are exactly so many. */
const behind = (bytes: Uint8Array, beginning: Uint8Array, length: number): Uint8Array | null =>
  bytes.byteLength === beginning.byteLength + length && areSame(bytes.subarray(0, beginning.byteLength), beginning)
    ? bytes.subarray(beginning.byteLength)
    : null;

/** noble says no to points, signatures and lengths by throwing. */
const attempt = <Result>(judge: () => Result): Result | null => {
  try {
    return judge();
  } catch {
    return null;
  }
};

const parsed = (bytes: Uint8Array): unknown =>
  attempt(() => JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)) as unknown);

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const BITS_OF_LETTER = 6;
const BITS_OF_BYTE = 8;

/** Base64url without padding, in its one spelling; null for any other text, or another length. */
const bytesOf = (text: unknown, { min, max }: { readonly min: number; readonly max: number }): Uint8Array | null => {
  if (typeof text !== 'string' || text.length > Math.ceil((max * BITS_OF_BYTE) / BITS_OF_LETTER)) return null;
  const bytes = new Uint8Array(Math.floor((text.length * BITS_OF_LETTER) / BITS_OF_BYTE));
  let [bits, held, at] = [0, 0, 0];
  for (const letter of text) {
    const value = ALPHABET.indexOf(letter);
    if (value < 0) return null;
    [bits, held] = [(bits << BITS_OF_LETTER) | value, held + BITS_OF_LETTER];
    if (held < BITS_OF_BYTE) continue;
    held -= BITS_OF_BYTE;
    bytes[at] = bits >> held;
    at += 1;
    bits &= (1 << held) - 1;
  }
  const isOneSpelling = bits === 0 && held < BITS_OF_LETTER;
  return isOneSpelling && bytes.byteLength >= min && bytes.byteLength <= max ? bytes : null;
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const areSame = (one: Uint8Array, other: Uint8Array): boolean =>
  one.byteLength === other.byteLength && one.every((byte, index) => byte === other[index]);

const concat = (one: Uint8Array, other: Uint8Array): Uint8Array => {
  const both = new Uint8Array(one.byteLength + other.byteLength);
  both.set(one);
  both.set(other, one.byteLength);
  return both;
};

function hexBytes(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
