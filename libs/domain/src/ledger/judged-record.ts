import {
  type DeedBody,
  type DeedJudgement,
  type Digest,
  digestOf,
  isDeedCoseSignedInPool,
  isDigest,
  judgeDeed,
  type KeyLookup,
  parsePublicKeyText,
  PublicKeyError,
  type SealKeyEntry,
} from '#libs/crypto';
import { type EventPlace, type OrgId, type RecordedEvent, uuidOfHash } from '../kernel/index.js';
import type { LedgerEvent } from './deed.events.js';
import type { DeedFault } from './ledger-check.js';

/** The registered seal keys. Each is decoded and judged once. */
export class ListedKeys {
  private readonly lookups: ReadonlyMap<string, KeyLookup>;

  constructor(entries: readonly SealKeyEntry[]) {
    this.lookups = new Map(entries.map((entry) => [entry.kid, lookupOf(entry)]));
  }

  find(kid: string): KeyLookup {
    return this.lookups.get(kid) ?? UNKNOWN;
  }
}

const UNKNOWN: KeyLookup = { publicKey: null, fault: 'unknown_key' };

const lookupOf = (entry: SealKeyEntry): KeyLookup => {
  try {
    return { entry, publicKey: parsePublicKeyText(entry.public_key) };
  } catch (error) {
    if (error instanceof PublicKeyError) return UNKNOWN;
    throw error;
  }
};

/**
 * Judges everything about a stored deed that needs no other deed: what the verifier of bundles judges, the members
 * stored beside the bytes, and the signature of the COSE form. No bundle carries that signature, but the service hands
 * it out, so damage to it should be found before somebody asks for it. Its check doubles the work, for which the time
 * limit of a check of 10,000 deeds leaves room.
 */
export const judgeRecord = async (
  org: OrgId,
  recorded: RecordedEvent,
  keys: ListedKeys,
): Promise<DeedJudgement<DeedFault>> => {
  const stored = storedOf(recorded);
  if (stored === null) return { fault: 'bad_record' };
  const { body_hash: bodyHash, kid, signature, cose_signature: coseSignature } = stored.data;
  const body = Buffer.from(stored.data.body);
  const deed = { seq: recorded.revision + 1, body, seal: { bodyHash, kid, signature } };
  const judgement = judgeDeed(deed, org, (name) => keys.find(name));
  if (judgement.fault !== null) return judgement;
  if (!isSameRecord(stored, judgement.body)) return { fault: 'record_mismatch' };
  const { publicKey } = keys.find(kid);
  const isCoseSigned = publicKey === null || isDeedCoseSignedInPool({ kid, body, coseSignature }, publicKey);
  const isSigned = (await judgement.isSigned) ?? true;
  return isSigned && !(await isCoseSigned) ? { fault: 'bad_cose_signature' } : judgement;
};

/** The hash of the stored bytes, whatever is stored beside them; null if there are no bytes. */
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

/** Null if the event is not one that the sealer writes: whoever can write to the database can put anything here. */
const storedOf = ({ id, type, data, metadata }: RecordedEvent): StoredRecord | null => {
  const stored = parsedObject(data) as Partial<LedgerEvent['data']> | null;
  const source = (parsedObject(metadata) as { source?: unknown } | null)?.source;
  if (type !== 'DeedSealed' || stored === null || typeof source !== 'object' || source === null) return null;
  if (!TEXTS.every((name) => typeof stored[name] === 'string') || !isDigest(stored.body_hash)) return null;
  // The id of a deed's event is derived from the body hash.
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

/**
 * Whether the members stored beside the bytes agree with them. They exist so that readers need not parse the bytes, and
 * must say nothing that the bytes do not say.
 */
const isSameRecord = ({ data, source }: StoredRecord, body: DeedBody): boolean =>
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
