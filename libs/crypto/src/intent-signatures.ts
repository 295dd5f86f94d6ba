import { decodeBase64url, EncodingError } from './base64url.js';
import type { DeedBody } from './deed-schema.js';
import { type Digest, digestOf, sha256 } from './digest.js';
import { parsePublicKeyText, PublicKeyError, SIGNATURE_BYTES, type VerifiedPublicKey } from './ed25519.js';
import { checkTime, type Intent, INTENT_CLOCK_SKEW_MS, intentInput, readIntent } from './intent-form.js';
import { canonicalize } from './jcs.js';
import type { JsonObject, JsonValue } from './strict-json.js';

/** A deed that registers or removes an intent key. Its `kid` is sealed; whose key it is stands in its data. */
export interface IntentKeyChange {
  readonly seq: number;
  readonly change: 'added' | 'removed';
  readonly kid: string;
  /** When the deed was issued. */
  readonly at: number;
}

export const intentKeyChangeOf = ({ seq, admin, issued_at }: DeedBody): IntentKeyChange | null => {
  if (admin?.action !== 'intent_key.added' && admin?.action !== 'intent_key.removed') return null;
  const change = admin.action === 'intent_key.added' ? 'added' : 'removed';
  return { seq, change, kid: admin.target.id, at: Date.parse(issued_at) };
};

const HASH_BYTES = 32;
const TIME_BYTES = 8;
export const CALL_RECORD_BYTES = HASH_BYTES + TIME_BYTES;

/**
 * What an intent must say of the call of a deed, but for its arguments: a hash of agent, tool and references, and when the
 * call came in. So few bytes, because a check of a large bundle keeps them of every deed that names an intent.
 */
export const callRecordOf = ({ who, action }: DeedBody): Uint8Array => {
  const record = new Uint8Array(CALL_RECORD_BYTES);
  const { agent, on_behalf_of, session } = who;
  // An intent names no tool so long that a deed has cut it.
  const tool = action === null || action.tool_truncated ? null : action.tool;
  record.set(hashOfCall({ agent, on_behalf_of, session, tool }));
  new DataView(record.buffer).setFloat64(HASH_BYTES, action === null ? Number.NaN : Date.parse(action.created_at));
  return record;
};

const hashOfCall = (call: {
  readonly agent: string | null;
  readonly on_behalf_of: string | null;
  readonly session: string | null;
  readonly tool: string | null;
}): Uint8Array => sha256(canonicalize(call));

const isOfCall = ({ agent, tool, on_behalf_of, session }: Intent, record: Uint8Array): boolean =>
  hashOfCall({ agent, on_behalf_of: on_behalf_of ?? null, session: session ?? null, tool }).every(
    (byte, index) => byte === record[index],
  );

const timeIn = (record: Uint8Array): number =>
  new DataView(record.buffer, record.byteOffset, CALL_RECORD_BYTES).getFloat64(HASH_BYTES);

/** The intent that is given for a deed, and what the deed says of the call. */
export interface GivenIntent {
  readonly seq: number;
  /** {@link callRecordOf} of the deed. */
  readonly call: Uint8Array;
  /** The deed's `args_digest` where it is plain (`service.deed/1`), else null: then the opened arguments are compared. */
  readonly argsDigest: Digest | null;
  readonly bytes: Uint8Array;
  readonly signature: string;
}

type KeyAt = VerifiedPublicKey | 'none' | 'removed' | 'unknown';

/**
 * Checks intents against the calls and the keys that the deeds of a bundle tell of, while what is given of them passes in
 * the order of the deeds.
 */
export class IntentSignatures {
  /** The data of changes that were opened, by the seq of the change. */
  readonly #data = new Map<number, { readonly agent: string; readonly key: VerifiedPublicKey | null } | null>();
  readonly #changes = new Map<string, IntentKeyChange[]>();
  readonly #seqs: ReadonlySet<number>;
  #args: { readonly seq: number; readonly digest: Digest } | null = null;
  #signed = 0;

  /**
   * @param changes of intent keys among the deeds, in their order
   * @param isFromTheBeginning whether the deeds are those of the chain from its first one on, so that no key was added before
   */
  constructor(
    private readonly org: string,
    changes: readonly IntentKeyChange[],
    private readonly isFromTheBeginning: boolean,
  ) {
    this.#seqs = new Set(changes.map(({ seq }) => seq));
    for (const change of changes) {
      const known = this.#changes.get(change.kid);
      if (known === undefined) this.#changes.set(change.kid, [change]);
      else known.push(change);
    }
  }

  get signed(): number {
    return this.#signed;
  }

  /** Takes the opened arguments of a deed that names an intent. */
  takeArguments(seq: number, bytes: Uint8Array): void {
    this.#args = { seq, digest: digestOf(bytes) };
  }

  /** Takes the opened data of a deed; those of a change of an intent key say whose key it is. */
  takeData(seq: number, data: JsonValue): void {
    if (!this.#seqs.has(seq)) return;
    const said: JsonObject = data !== null && typeof data === 'object' && !Array.isArray(data) ? data : {};
    const { agent, public_key: key } = said;
    this.#data.set(seq, typeof agent === 'string' ? { agent, key: keyIn(key) } : null);
  }

  /** `unchecked`: nothing is wrong with it, and what it is checked with was not given. */
  judge({ seq, call, argsDigest, bytes, signature }: GivenIntent): 'right' | 'wrong' | 'unchecked' {
    const read = readIntent(bytes);
    if (!read.ok) return 'wrong';
    const { intent, intentHash } = read;
    const at = timeIn(call);
    if (intent.org !== this.org || !isOfCall(intent, call) || checkTime(intent, at) !== null) return 'wrong';
    const args = argsDigest ?? (this.#args?.seq === seq ? this.#args.digest : null);
    if (args !== null && args !== intent.args_digest) return 'wrong';
    const key = this.keyAt(intent, seq, at);
    if (key === 'unknown') return 'unchecked';
    if (key === 'removed' || key === 'none') return 'wrong';
    if (!isSigned(key, intentHash, signature)) return 'wrong';
    if (args === null) return 'unchecked';
    this.#signed += 1;
    return 'right';
  }

  /** The key under which this agent signed, by the last of the changes before the deed that says something of it. */
  private keyAt({ agent, kid }: Intent, seq: number, at: number): KeyAt {
    let found: KeyAt = this.isFromTheBeginning ? 'none' : 'unknown';
    for (const change of this.#changes.get(kid) ?? []) {
      if (change.seq >= seq) break;
      // Whoever took the call may not have known of the removal yet, and may have had a clock of its own.
      if (change.change === 'removed' && change.at + INTENT_CLOCK_SKEW_MS >= at) continue;
      const data = this.#data.get(change.seq);
      // The same key may be that of several agents; whose it was is in the data alone.
      if (data === undefined) found = 'unknown';
      else if (data?.agent === agent && change.change === 'removed') found = 'removed';
      else if (data?.agent === agent && data.key?.kid === kid) found = data.key;
    }
    return found;
  }
}

const keyIn = (text: JsonValue | undefined): VerifiedPublicKey | null => {
  if (typeof text !== 'string') return null;
  try {
    return parsePublicKeyText(text);
  } catch (error) {
    if (error instanceof PublicKeyError) return null;
    throw error;
  }
};

const isSigned = (key: VerifiedPublicKey, intentHash: Digest, signature: string): boolean => {
  try {
    return key.verify(intentInput(intentHash), decodeBase64url(signature, SIGNATURE_BYTES));
  } catch (error) {
    if (error instanceof EncodingError) return false;
    throw error;
  }
};
