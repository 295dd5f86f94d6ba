import {
  type DeedBody,
  DeedBodyError,
  type Digest,
  digestOf,
  isDeedCoseSigned,
  isDigest,
  isSealSigned,
  keyFault,
  parseDeedBody,
  parsePublicKeyText,
  PublicKeyError,
  type SealKeyEntry,
  type VerifiedPublicKey,
} from '#libs/crypto';
import { type EventPlace, type OrgId, type RecordedEvent, uuidOfHash } from '#libs/domain/kernel';
import type { LedgerEvent } from '#libs/domain/ledger';
import type { DeedFault, SealFault, TrustFault } from './ledger-check.js';

/** What one stored deed says by itself, before it is compared with its place in the chain. */
export type JudgedRecord = { readonly fault: DeedFault } | SoundRecord;

export interface SoundRecord {
  readonly fault: null;
  readonly body: DeedBody;
  readonly bodyHash: Digest;
  readonly trustFault: TrustFault | null;
  /** Verified on threads of the pool. */
  readonly sealFault: Promise<SealFault | null>;
}

/** The registered seal keys, each decoded and judged once. */
export class ListedKeys {
  private readonly keys: ReadonlyMap<string, { entry: SealKeyEntry; publicKey: VerifiedPublicKey | null }>;

  constructor(entries: readonly SealKeyEntry[]) {
    this.keys = new Map(entries.map((entry) => [entry.kid, { entry, publicKey: decoded(entry) }]));
  }

  find(kid: string): { readonly entry: SealKeyEntry; readonly publicKey: VerifiedPublicKey } | null {
    const found = this.keys.get(kid);
    return found?.publicKey ? { entry: found.entry, publicKey: found.publicKey } : null;
  }
}

const decoded = (entry: SealKeyEntry): VerifiedPublicKey | null => {
  try {
    return parsePublicKeyText(entry.public_key);
  } catch (error) {
    if (error instanceof PublicKeyError) return null;
    throw error;
  }
};

/** Judges everything of a stored deed that needs no other deed, in the order of the verifier of bundles. */
export const judgeRecord = (org: OrgId, recorded: RecordedEvent, keys: ListedKeys): JudgedRecord => {
  const stored = storedOf(recorded);
  if (stored === null) return { fault: 'bad_record' };
  const bytes = Buffer.from(stored.data.body);
  const bodyHash = digestOf(bytes);
  if (bodyHash !== stored.data.body_hash) return { fault: 'body_hash_mismatch' };
  const body = readBody(bytes);
  if (typeof body === 'string') return { fault: body };
  if (body.seq !== recorded.revision + 1) return { fault: 'wrong_seq' };
  if (body.chain.kid !== stored.data.kid) return { fault: 'wrong_kid' };
  if (body.org !== org) return { fault: 'wrong_org' };
  if (!tellsTheSame(stored, body)) return { fault: 'record_mismatch' };
  const key = keys.find(body.chain.kid);
  if (key === null) return { fault: null, body, bodyHash, trustFault: 'unknown_key', sealFault: Promise.resolve(null) };
  const sealFault = bothSealsFault(bytes, stored.data, key.publicKey);
  return { fault: null, body, bodyHash, trustFault: keyFault(key.entry, body.issued_at), sealFault };
};

/**
 * Both signatures, although a bundle carries one: the other is what the COSE form hands out, and this check is where
 * damage to it is found before somebody asks. It doubles the work of the pool, of which 10,000 deeds leave enough time.
 */
const bothSealsFault = async (
  body: Uint8Array,
  { body_hash: bodyHash, kid, signature, cose_signature: coseSignature }: LedgerEvent['data'],
  key: VerifiedPublicKey,
): Promise<SealFault | null> => {
  const [isSealed, isCoseSealed] = await Promise.all([
    isSealSigned({ bodyHash, signature }, key),
    isDeedCoseSigned({ kid, body, coseSignature }, key),
  ]);
  if (!isSealed) return 'bad_signature';
  return isCoseSealed ? null : 'bad_cose_signature';
};

/** Of the stored bytes, whatever stands beside them; null when there are none. */
export const bodyHashOf = (recorded: RecordedEvent): Digest | null => {
  const body = (parsedObject(recorded.data) as { body?: unknown } | null)?.body;
  return typeof body === 'string' ? digestOf(Buffer.from(body)) : null;
};

interface StoredRecord {
  readonly data: LedgerEvent['data'];
  readonly source: Partial<EventPlace>;
}

const TEXTS = [
  'body',
  'body_hash',
  'kid',
  'signature',
  'cose_signature',
] as const satisfies (keyof LedgerEvent['data'])[];

/** Null when it is not what the sealer writes. Whoever can write to the database can put anything here. */
const storedOf = ({ id, type, data, metadata }: RecordedEvent): StoredRecord | null => {
  const stored = parsedObject(data) as Partial<LedgerEvent['data']> | null;
  const source = (parsedObject(metadata) as { source?: unknown } | null)?.source;
  if (type !== 'DeedSealed' || stored === null || typeof source !== 'object' || source === null) return null;
  if (!TEXTS.every((name) => typeof stored[name] === 'string') || !isDigest(stored.body_hash)) return null;
  // The event of a deed takes its id from the body hash.
  if (id !== uuidOfHash(stored.body_hash.slice('sha256:'.length))) return null;
  return { data: stored as LedgerEvent['data'], source };
};

const parsedObject = (text: string): object | null => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
};

const readBody = (bytes: Uint8Array): DeedBody | DeedBodyError['reason'] => {
  try {
    return parseDeedBody(bytes);
  } catch (error) {
    if (error instanceof DeedBodyError) return error.reason;
    throw error;
  }
};

/** What is stored beside the bytes, to be found without parsing them, is no more than they say. */
const tellsTheSame = ({ data, source }: StoredRecord, body: DeedBody): boolean =>
  data.org === body.org &&
  data.deed === body.id &&
  data.seq === body.seq &&
  data.kind === body.kind &&
  data.action === (body.action?.id ?? null) &&
  data.issued_at === body.issued_at &&
  data.prev_hash === body.chain.prev_hash &&
  source.stream === body.source.stream &&
  source.revision === body.source.revision &&
  source.event_id === body.source.event_id;
