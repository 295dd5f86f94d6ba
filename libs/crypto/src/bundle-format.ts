import { decodeBase64url, encodeBase64url, EncodingError } from './base64url.js';
import {
  type Check,
  type Checked,
  closed,
  digest,
  idOf,
  integer,
  list,
  nullable,
  oneOf,
  SchemaError,
  text,
  timestamp,
} from './closed-schema.js';
import { type SealKeyEntry, sealKeySchema } from './deed-chain.js';
import { MAX_DEED_BYTES } from './deed-schema.js';
import { type Digest, digestOf } from './digest.js';
import { PUBLIC_KEY_BYTES } from './ed25519.js';
import { canonicalize } from './jcs.js';
import type { Seal } from './seal.js';
import { bodyProfile, type JsonProfile, type JsonValue, parseStrictJson, StrictJsonError } from './strict-json.js';

export const FIRST_BUNDLE_VERSION = 'service.bundle/1';
export const BUNDLE_VERSION = 'service.bundle/2';
export const BUNDLE_MEDIA_TYPE = 'application/gzip';

/** The entries of a bundle, in the only order there is. */
export const MANIFEST_ENTRY = 'manifest.json';
export const KEYS_ENTRY = 'keys.json';
export const DEEDS_ENTRY = 'deeds.ndjson';

/** What may stand behind them in a bundle of the second format, in the only order there is. */
export const CHECKPOINT_ENTRY = 'checkpoint.txt';
export const RANGE_ENTRY = 'range.json';
export const PAYLOADS_ENTRY = 'payloads.ndjson';

/** A name of a file behind deeds.ndjson. */
export type BundleFile = typeof CHECKPOINT_ENTRY | typeof RANGE_ENTRY | typeof PAYLOADS_ENTRY;

const BUNDLE_FILES: readonly BundleFile[] = [CHECKPOINT_ENTRY, RANGE_ENTRY, PAYLOADS_ENTRY];

export const MAX_MANIFEST_BYTES = 1_048_576;
export const MAX_KEYS_BYTES = 4_194_304;

const MAX_KEYS = 10_000;

const head = closed({ seq: integer(1), body_hash: digest });

const MANIFEST = {
  org: idOf('org'),
  from: nullable(timestamp),
  to: nullable(timestamp),
  first_seq: nullable(integer(1)),
  last_seq: nullable(integer(1)),
  count: integer(0),
  prev_hash: nullable(digest),
  head: nullable(head),
  keys: list(digest, MAX_KEYS),
  created_at: timestamp,
  service_version: text(64),
};

const manifestSchemas = {
  [FIRST_BUNDLE_VERSION]: closed({ v: oneOf(FIRST_BUNDLE_VERSION), ...MANIFEST }),
  [BUNDLE_VERSION]: closed({
    v: oneOf(BUNDLE_VERSION),
    ...MANIFEST,
    files: list(oneOf(...BUNDLE_FILES), BUNDLE_FILES.length),
  }),
};

type ManifestSchemas = typeof manifestSchemas;

export type BundleVersion = keyof ManifestSchemas;

/** Which format the manifest says that it is of; anything else is judged as the first, and refused. */
const manifestSchema: Check<BundleManifest> = Object.assign(
  (value: JsonValue): BundleManifest => {
    const isSecond = value !== null && typeof value === 'object' && 'v' in value && value.v === BUNDLE_VERSION;
    return manifestSchemas[isSecond ? BUNDLE_VERSION : FIRST_BUNDLE_VERSION](value);
  },
  { canonical: '' },
);

/**
 * What a bundle says of itself. `from` (inclusive) and `to` (exclusive) are the time range that was asked for, null for
 * an open end; `prev_hash` is the body hash before `first_seq`, null at the start of the chain; `head` is the end of the
 * ledger when the bundle was made, null for an empty ledger; `keys` are the fingerprints of keys.json, in its order;
 * `files`, of the second format, are what follows deeds.ndjson.
 */
export type BundleManifest = Checked<ManifestSchemas[BundleVersion]>;

/** What follows deeds.ndjson. */
export const filesOf = (manifest: BundleManifest): readonly BundleFile[] => ('files' in manifest ? manifest.files : []);

const keySetSchema = closed({ keys: list(sealKeySchema, MAX_KEYS) });
const publishedKeySetSchema = closed({ object: oneOf('seal_key_set'), keys: list(sealKeySchema, MAX_KEYS) });

/** A deed with its seal, as a bundle carries it: what an offline check needs and no more. */
export interface SealedDeed {
  readonly seq: number;
  /** The canonical bytes of the body. */
  readonly body: Uint8Array;
  readonly seal: Seal;
}

/** The SHA-256 fingerprint of a listed key, computed from its text without judging the point. */
export const fingerprintOf = ({ public_key }: SealKeyEntry): Digest =>
  digestOf(decodeBase64url(public_key.slice('ed25519:'.length), PUBLIC_KEY_BYTES));

export const encodeManifest = (manifest: BundleManifest): Buffer => {
  const bytes = Buffer.from(canonicalize(manifest));
  if (parseManifest(bytes) === null) throw new RangeError('the manifest of a bundle contradicts itself');
  return bytes;
};

/** The manifest in these bytes, or null when they are not canonical, of another shape, or contradict themselves. */
export const parseManifest = (bytes: Uint8Array): BundleManifest | null => {
  const manifest = parseCanonical(bytes, manifestSchema, MAX_MANIFEST_BYTES);
  return manifest !== null && isConsistent(manifest) ? manifest : null;
};

const isConsistent = (manifest: BundleManifest): boolean => {
  const { from, to, first_seq, last_seq, count, prev_hash, head } = manifest;
  if (!areInOrder(filesOf(manifest), count)) return false;
  if (from !== null && to !== null && from >= to) return false;
  if (first_seq === null || last_seq === null) {
    return first_seq === null && last_seq === null && count === 0 && prev_hash === null;
  }
  if (count < 1 || last_seq - first_seq + 1 !== count || (prev_hash === null) !== (first_seq === 1)) return false;
  return head !== null && head.seq >= last_seq;
};

/** In their order, none twice; a checkpoint and what binds deeds to it come together, and where there are deeds. */
const areInOrder = (files: readonly BundleFile[], count: number): boolean => {
  const places = files.map((file) => BUNDLE_FILES.indexOf(file));
  const isAscending = places.every((place, index) => index === 0 || place > (places[index - 1] ?? place));
  const hasCheckpoint = files.includes(CHECKPOINT_ENTRY);
  return isAscending && hasCheckpoint === files.includes(RANGE_ENTRY) && (count > 0 || !hasCheckpoint);
};

/** The key set as its bytes: {"keys":[...]} in canonical form, oldest first. */
export const encodeKeySet = (keys: readonly SealKeyEntry[]): Buffer => {
  const bytes = Buffer.from(canonicalize({ keys: [...keys] }));
  if (parseKeySet(bytes) === null) throw new RangeError('a seal key entry is malformed');
  return bytes;
};

/** The keys in these bytes, or null: not canonical, another shape, a kid that is not its key's, or a key listed twice. */
export const parseKeySet = (bytes: Uint8Array): SealKeyEntry[] | null => {
  const keySet = parseCanonical(bytes, keySetSchema, MAX_KEYS_BYTES);
  return keySet !== null && areDistinct(keySet.keys) && keySet.keys.every(hasOwnKid) ? keySet.keys : null;
};

/** A text that is no key set as the service publishes it. The message ends a sentence that begins with its file. */
export class KeySetError extends Error {
  override readonly name = 'KeySetError';
}

/**
 * The keys in the document at /.well-known/service/keys.json: {"object":"seal_key_set","keys":[...]}, strict JSON in any
 * spelling, because it is compared with nothing. At most `MAX_KEYS_BYTES`. Throws `KeySetError`.
 */
export const parsePublishedKeySet = (bytes: Uint8Array): SealKeyEntry[] => {
  const { keys } = readPublishedKeySet(bytes);
  const stranger = keys.find((key) => !hasOwnKid(key));
  if (stranger !== undefined)
    throw new KeySetError(`lists another public key under the kid ${stranger.kid} than its own`);
  if (!areDistinct(keys)) throw new KeySetError('lists a key twice');
  return keys;
};

const readPublishedKeySet = (bytes: Uint8Array): Checked<typeof publishedKeySetSchema> => {
  try {
    return publishedKeySetSchema(parseStrictJson(bytes, profileUpTo(MAX_KEYS_BYTES)));
  } catch (error) {
    if (error instanceof StrictJsonError) {
      // Nothing a key set holds nests deeply: what does is JSON, and something else.
      const what = error.reason === 'depth' ? 'is not of the shape of a key set' : 'is not readable as JSON';
      throw new KeySetError(`${what} (${error.reason} at byte ${error.offset})`, { cause: error });
    }
    if (error instanceof SchemaError) {
      throw new KeySetError(`is not of the shape of a key set (at ${error.path || 'its top'})`, { cause: error });
    }
    throw error;
  }
};

const areDistinct = (keys: readonly SealKeyEntry[]): boolean =>
  new Set(keys.map(({ kid }) => kid)).size === keys.length;

/** A kid is the first 16 bytes of the hash that the fingerprint shows whole (rule FORM-8). */
const hasOwnKid = (key: SealKeyEntry): boolean => {
  try {
    return fingerprintOf(key).startsWith(`sha256:${key.kid}`);
  } catch (error) {
    if (error instanceof EncodingError) return false;
    throw error;
  }
};

const profileUpTo = (maxBytes: number): JsonProfile => bodyProfile({ maxBytes, maxDepth: 4, integersOnly: true });

/** The value of canonical bytes of this shape, or null. */
export const parseCanonical = <Value>(bytes: Uint8Array, check: Check<Value>, maxBytes: number): Value | null => {
  let value: JsonValue;
  try {
    value = parseStrictJson(bytes, profileUpTo(maxBytes));
    if (!Buffer.from(canonicalize(value)).equals(bytes)) return null;
    return check(value);
  } catch (error) {
    if (error instanceof StrictJsonError || error instanceof SchemaError) return null;
    throw error;
  }
};

// A line is canonical JSON whose members are all ASCII without escapes: one start, one pattern for the end, and between
// them the body, which is most of a line and is judged when it is decoded.
const LINE_START = '{"body":"';
const LINE_REST =
  /^","body_hash":"(sha256:[0-9a-f]{64})","kid":"([0-9a-f]{32})","seq":([1-9][0-9]{0,15}),"signature":"([A-Za-z0-9_-]{86})"\}$/;

const BASE64_GROUP_BYTES = 3;
const BASE64_GROUP_CHARACTERS = 4;

const base64urlCharacters = (bytes: number): number =>
  Math.ceil((bytes * BASE64_GROUP_CHARACTERS) / BASE64_GROUP_BYTES);

const line = (seq: number | string, body: string, seal: Seal): string =>
  `{"body":"${body}","body_hash":"${seal.bodyHash}","kid":"${seal.kid}","seq":${seq},"signature":"${seal.signature}"}`;

/** One line of deeds.ndjson, its line feed included. */
export const encodeDeedLine = ({ seq, body, seal }: SealedDeed): Buffer =>
  Buffer.from(`${line(seq, encodeBase64url(body), seal)}\n`, 'latin1');

const FRAME_CHARACTERS = line('', '', {
  bodyHash: digestOf(''),
  kid: '0'.repeat(32),
  signature: '0'.repeat(86),
}).length;

/** The bytes that a deed takes in deeds.ndjson, line feed included, from its seq and the length of its body alone. */
export const deedLineBytes = (seq: number, bodyBytes: number): number =>
  FRAME_CHARACTERS + String(seq).length + base64urlCharacters(bodyBytes) + 1;

export const MAX_LINE_BYTES = deedLineBytes(Number.MAX_SAFE_INTEGER, MAX_DEED_BYTES);

/** The deed on a line (given without its line feed), or null when the line has any other form. */
export const parseDeedLine = (bytes: Buffer): SealedDeed | null => {
  const text = bytes.toString('latin1');
  const bodyEnd = text.indexOf('"', LINE_START.length);
  const rest = LINE_REST.exec(text.slice(bodyEnd));
  if (!text.startsWith(LINE_START) || rest === null) return null;
  const [, bodyHash = '', kid = '', seq = '', signature = ''] = rest;
  const body = decodeBody(text.slice(LINE_START.length, bodyEnd));
  if (body === null || !Number.isSafeInteger(Number(seq))) return null;
  return { seq: Number(seq), body, seal: { bodyHash: bodyHash as Digest, kid, signature } };
};

const decodeBody = (text: string): Uint8Array | null => {
  if (text === '') return null;
  try {
    return decodeBase64url(text, MAX_DEED_BYTES);
  } catch (error) {
    if (error instanceof EncodingError) return null;
    throw error;
  }
};
