import { parseRange } from './bundle-range.js';
import { encodeBase64 } from './transparency/base64.js';
import { type ReadCheckpoint, checkpointIn } from './transparency/checkpoint.js';
import {
  type CheckpointRefusal,
  judgeCheckpoint,
  type Quorum,
  quorumOf,
  type WitnessWord,
} from './transparency/checkpoint-judgement.js';
import { LedgerRangeError, type RangeLeaves } from './transparency/ledger-range.js';
import { isSameHash } from './transparency/merkle-hash.js';
import { parseSignedNote, SignedNoteError } from './transparency/signed-note.js';
import { NO_QUORUM, type TlogPolicy } from './transparency/tlog-policy.js';
import type { Vkey } from './transparency/vkey.js';

/** Faults of the checkpoint of a bundle, and of what binds its deeds to it. */
export type CheckpointFault =
  'bad_checkpoint' | 'wrong_origin' | 'checkpoint_not_signed' | 'root_mismatch' | 'bad_cosignature';

/** What the reader knows of checkpoints. Without a policy no witness is asked for. */
export interface CheckpointTrust {
  /** The checkpoint keys of the log; where there are none, those of the policy. */
  readonly keys: readonly Vkey[];
  readonly policy: TlogPolicy | null;
}

/** The checkpoint of a bundle, as a verdict tells it. */
export interface CheckpointWords {
  readonly checkpoint: {
    readonly size: number;
    /** Padded base64, as in the note. */
    readonly root: string;
    /** Whether a key that the reader trusts signed it. */
    readonly signed: boolean;
    /** The origin: the name of the log. */
    readonly made_by: string;
  } | null;
  readonly witnesses: readonly {
    readonly name: string;
    /** The earliest time that it vouches for, by its own clock. */
    readonly at: string | null;
    readonly counts: boolean;
  }[];
  /** Null where the reader trusts no key, so that nobody's word was weighed. */
  readonly quorum: Quorum | null;
  /** The earliest time at which enough of the witnesses had seen all of it, by their own clocks. */
  readonly exists_since: string | null;
}

export const NO_CHECKPOINT: CheckpointWords = { checkpoint: null, witnesses: [], quorum: null, exists_since: null };

/** Which deeds a checkpoint is to cover. */
export interface CoveredDeeds {
  readonly org: string;
  readonly first: number;
  readonly last: number;
}

/** A checkpoint whose signatures hold, and that a range of deeds can be compared with. */
export interface BundleCheckpoint {
  readonly read: ReadCheckpoint;
  readonly words: CheckpointWords;
}

const NO_WITNESSES: TlogPolicy = { logs: [], witnesses: [], groups: [], quorum: NO_QUORUM };

/** The keys of logs that count for this reader; null where he knows none. */
export const trustedLogs = ({ keys, policy }: CheckpointTrust): readonly Vkey[] | null => {
  const logs = keys.length > 0 ? keys : (policy?.logs.map(({ vkey }) => vkey) ?? []);
  return logs.length === 0 ? null : logs;
};

/** Judges checkpoint.txt by itself: its form, its origin, its size, and what the reader's keys say about it. */
export const judgeNoteOf = (
  bytes: Uint8Array,
  { org, last }: CoveredDeeds,
  trust: CheckpointTrust,
): BundleCheckpoint | CheckpointFault => {
  const read = readNote(bytes);
  if (read === null || read.size < last) return 'bad_checkpoint';
  // One key signs for every organization of a service: only the name tells whose tree it is.
  if (!isOriginOf(read.origin, org)) return 'wrong_origin';
  const logs = trustedLogs(trust);
  if (logs === null) return { read, words: { ...NO_CHECKPOINT, checkpoint: checkpointWord(read, false) } };
  const judged = judgeCheckpoint(bytes, trust.policy ?? NO_WITNESSES, logs);
  if (judged.result === 'refused') return FAULT_OF[judged.reason];
  const witnesses = judged.witnesses.map(witnessWord);
  const { quorum } = judged;
  const exists_since = metSince(trust.policy ?? NO_WITNESSES, witnesses);
  return { read, words: { checkpoint: checkpointWord(read, true), witnesses, quorum, exists_since } };
};

/** One witness alone could say any time: enough of them had seen it then. */
const metSince = (policy: TlogPolicy, witnesses: CheckpointWords['witnesses']): string | null => {
  const times = witnesses.flatMap(({ at }) => (at === null ? [] : [at])).sort();
  const seenBy = (time: string): ReadonlySet<string> =>
    new Set(witnesses.flatMap(({ name, at }) => (at !== null && at <= time ? [name] : [])));
  return times.find((time) => quorumOf(policy, seenBy(time)) === 'met') ?? null;
};

/** A tree that an operator began anew has a number behind its origin (docs/checkpoints.md). */
const isOriginOf = (origin: string, org: string): boolean => {
  const numberless = origin.replace(/\/[1-9][0-9]{0,15}$/, '');
  return [origin, numberless].some((name) => name.endsWith(`/ledger/${org}`));
};

/** Judges range.json: whether the deeds that were read lead to the root of the checkpoint. */
export const judgeRangeOf = (
  bytes: Uint8Array,
  { first, last }: CoveredDeeds,
  { size, root }: ReadCheckpoint,
  leaves: RangeLeaves,
): CheckpointFault | null => {
  const range = parseRange(bytes);
  if (range?.first !== first || range.last !== last || range.size !== size) return 'bad_checkpoint';
  try {
    return isSameHash(leaves.root(range), root) ? null : 'root_mismatch';
  } catch (error) {
    if (error instanceof LedgerRangeError) return 'bad_checkpoint';
    throw error;
  }
};

const FAULT_OF: Readonly<Record<CheckpointRefusal, CheckpointFault>> = {
  bad_checkpoint: 'bad_checkpoint',
  bad_log_signature: 'bad_checkpoint',
  wrong_origin: 'wrong_origin',
  bad_cosignature: 'bad_cosignature',
  checkpoint_not_signed: 'checkpoint_not_signed',
};

const readNote = (bytes: Uint8Array): ReadCheckpoint | null => {
  try {
    return checkpointIn(parseSignedNote(bytes).text);
  } catch (error) {
    if (error instanceof SignedNoteError) return null;
    throw error;
  }
};

const checkpointWord = ({ origin, size, root }: ReadCheckpoint, signed: boolean): CheckpointWords['checkpoint'] => ({
  size,
  root: encodeBase64(root),
  signed,
  made_by: origin,
});

const witnessWord = ({ name, at, counts }: WitnessWord): CheckpointWords['witnesses'][number] => ({
  name,
  at: at === null ? null : timeOf(at),
  counts,
});

/** The last second of the year 9999: a time after it has no timestamp, and is none that a witness could have seen. */
const LAST_SECOND = 253_402_300_799;

const timeOf = (seconds: number): string | null =>
  seconds > LAST_SECOND ? null : new Date(seconds * 1_000).toISOString();
