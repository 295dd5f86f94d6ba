import {
  idPattern,
  isKeyName,
  type KnownKey,
  knownKey,
  parsePublicKeyText,
  parseVkey,
  PublicKeyError,
  SIGNATURE_TYPE,
  type Vkey,
  VkeyError,
  vkeyOf,
} from '#libs/crypto';

/** A log or a service that cannot be trusted as it was named. The message says what is expected. */
export class TrustError extends Error {
  override readonly name = 'TrustError';
}

/** Every organization of one service: one key, and origins `<host>/ledger/<org id>` that begin with a prefix, or with a number behind it after a break. */
export interface TrustedService {
  readonly prefix: string;
  /** 32 bytes, Ed25519. */
  readonly publicKey: Uint8Array;
}

/** An origin stands in the cosigned message of ML-DSA-44, which has room for so many bytes of it. */
const MAX_ORIGIN_BYTES = 255;

const ORG_ID = idPattern('org').source.slice(1, -1);
/**
 * Nothing else below a prefix is a log. The number behind the organization is of the breaks that its operator has accepted,
 * or the second of one, where the service had lost its count: each tree has an origin of its own.
 */
const LEDGER_ORIGIN = new RegExp(`^[^/]+(?:/[^/]+)*/ledger/${ORG_ID}(?:/[1-9][0-9]{0,15})?$`);

/** A log's own verifier key, whose name is the origin. @throws {TrustError} */
export const parseTrustedLog = (text: string): Vkey => {
  const vkey = readVkey(text);
  if (vkey.type === SIGNATURE_TYPE.ed25519Cosignature) {
    throw new TrustError('That is the key of a witness: a verifier key of a log is expected.');
  }
  if (Buffer.byteLength(vkey.keyName) > MAX_ORIGIN_BYTES) {
    throw new TrustError(`The origin of a log has at most ${MAX_ORIGIN_BYTES} bytes.`);
  }
  return vkey;
};

/** @param keyText `ed25519:...` as checkpoint-keys.json gives it, or the verifier key of one of its logs @throws {TrustError} */
export const parseTrustedService = (prefixText: string, keyText: string): TrustedService => {
  const prefix = prefixText.replace(/\/$/, '');
  if (!isKeyName(prefix) || prefix.includes('//') || prefix.startsWith('/')) {
    throw new TrustError(
      'A host, or a host and a path, is expected without https://, such as governance.example/ledger.',
    );
  }
  return { prefix, publicKey: readPublicKey(keyText) };
};

const readVkey = (text: string): Vkey => {
  try {
    return parseVkey(text);
  } catch (error) {
    if (!(error instanceof VkeyError)) throw error;
    throw new TrustError('A verifier key is expected, copied whole: <origin>+<8 hex digits>+<base64>.', {
      cause: error,
    });
  }
};

const readPublicKey = (text: string): Uint8Array => {
  if (text.includes('+')) {
    const vkey = readVkey(text);
    if (vkey.type === SIGNATURE_TYPE.ed25519) return vkey.publicKey;
    throw new TrustError('The checkpoint key of a service is an Ed25519 key of signature type 1.');
  }
  try {
    return parsePublicKeyText(text).bytes;
  } catch (error) {
    if (!(error instanceof PublicKeyError)) throw error;
    throw new TrustError('A public key is expected, copied whole: ed25519:... or a verifier key of the service.', {
      cause: error,
    });
  }
};

/** Which keys speak for an origin. Several do while a log's key is rotated. */
export class TrustedLogs {
  readonly #logs = new Map<string, KnownKey[]>();

  constructor(
    logs: readonly Vkey[],
    private readonly services: readonly TrustedService[],
  ) {
    for (const vkey of logs) this.#logs.set(vkey.keyName, [...(this.#logs.get(vkey.keyName) ?? []), knownKey(vkey)]);
  }

  /** Empty: the origin is unknown. Nothing is remembered of origins that were asked about. */
  keysOf(origin: string): readonly KnownKey[] {
    const services = this.#servicesOf(origin);
    const theirs = services.map(({ publicKey }) => knownKey(vkeyOf(origin, SIGNATURE_TYPE.ed25519, publicKey)));
    return [...(this.#logs.get(origin) ?? []), ...theirs];
  }

  #servicesOf(origin: string): readonly TrustedService[] {
    if (origin.length > MAX_ORIGIN_BYTES || !LEDGER_ORIGIN.test(origin) || !isKeyName(origin)) return [];
    if (Buffer.byteLength(origin) > MAX_ORIGIN_BYTES) return [];
    return this.services.filter(({ prefix }) => origin.startsWith(`${prefix}/`));
  }
}
