import { type ReadCheckpoint, checkpointIn } from './checkpoint.js';
import { timestampOf } from './cosignature.js';
import { EMPTY_ROOT, isSameHash } from './merkle-hash.js';
import { type KnownKey, knownKey } from './note-key.js';
import { judgeNote, parseSignedNote, type SignedNote, SignedNoteError, type VerifiedSignature } from './signed-note.js';
import { NO_QUORUM, type TlogPolicy } from './tlog-policy.js';
import { isSameKey, type Vkey } from './vkey.js';

/** Whether enough witnesses have cosigned. `none`: the policy asks for no cosignature. */
export type Quorum = 'met' | 'not_met' | 'none';

/** A witness of the policy that cosigned. */
export interface WitnessWord {
  /** Its name in the policy. */
  readonly name: string;
  readonly vkey: Vkey;
  /**
   * The earliest time that it vouches for, in POSIX seconds, by its own clock; null where it says none, which is the word
   * that nothing else is known, and not that this was the largest tree.
   */
  readonly at: number | null;
  /** Whether the quorum asks for it, by itself or through groups. */
  readonly counts: boolean;
}

/**
 * Why a checkpoint is not believed. Closed, in the order in which it is judged: it is no note or no checkpoint, or a tree of
 * no leaves with leaves; no trusted log has its origin; a line of a trusted log, or of a witness, does not verify; no
 * trusted log signed it.
 */
export type CheckpointRefusal =
  'bad_checkpoint' | 'wrong_origin' | 'bad_log_signature' | 'bad_cosignature' | 'checkpoint_not_signed';

/** A checkpoint that a trusted log signed. It is witnessed only where `quorum` says so. */
export interface SignedCheckpoint {
  readonly result: 'signed';
  readonly checkpoint: ReadCheckpoint;
  readonly note: SignedNote;
  /** The keys that the log signed it with. */
  readonly logs: readonly Vkey[];
  readonly witnesses: readonly WitnessWord[];
  readonly quorum: Quorum;
}

export type CheckpointJudgement = SignedCheckpoint | { readonly result: 'refused'; readonly reason: CheckpointRefusal };

const refused = (reason: CheckpointRefusal): CheckpointJudgement => ({ result: 'refused', reason });

/**
 * Judges a checkpoint by a policy. `logs` are the keys of the logs that are trusted, for a reader who knows them from
 * elsewhere; those of the policy otherwise. A key speaks for one origin only, its own name.
 */
export const judgeCheckpoint = (
  input: SignedNote | Uint8Array,
  policy: TlogPolicy,
  logs: readonly Vkey[] = policy.logs.map(({ vkey }) => vkey),
): CheckpointJudgement => {
  const note = input instanceof Uint8Array ? noteIn(input) : input;
  const checkpoint = note === null ? null : checkpointIn(note.text);
  if (note === null || checkpoint === null) return refused('bad_checkpoint');
  if (checkpoint.size === 0 && !isSameHash(checkpoint.root, EMPTY_ROOT)) return refused('bad_checkpoint');
  if (!logs.some(({ keyName }) => keyName === checkpoint.origin)) return refused('wrong_origin');
  const byLogs = judgeNote(note, logs.map(knownKey));
  if (byLogs.failed.length > 0) return refused('bad_log_signature');
  const byWitnesses = judgeNote(
    note,
    policy.witnesses.map(({ vkey }) => knownKey(vkey)),
  );
  if (byWitnesses.failed.length > 0) return refused('bad_cosignature');
  const own = byLogs.verified.filter(({ verifier }) => verifier.keyName === checkpoint.origin);
  if (own.length === 0) return refused('checkpoint_not_signed');
  const witnesses = wordsOf(policy, byWitnesses.verified);
  const quorum = quorumOf(policy, new Set(witnesses.map(({ name }) => name)));
  const keys = new Set(own.map(({ verifier }) => verifier.vkey));
  return { result: 'signed', checkpoint, note, logs: [...keys], witnesses, quorum };
};

const noteIn = (bytes: Uint8Array): SignedNote | null => {
  try {
    return parseSignedNote(bytes);
  } catch (error) {
    if (error instanceof SignedNoteError) return null;
    throw error;
  }
};

/**
 * One word for each witness, in the order of the policy, however many lines it wrote. One key is one witness: under a second
 * name, which no policy file can give it, it says nothing more.
 */
const wordsOf = (policy: TlogPolicy, verified: readonly VerifiedSignature<KnownKey>[]): readonly WitnessWord[] => {
  const asked = askedFor(policy);
  return policy.witnesses.flatMap(({ name, vkey }, index) => {
    if (policy.witnesses.slice(0, index).some((earlier) => isSameKey(earlier.vkey, vkey))) return [];
    const own = verified.filter(({ verifier }) => verifier.vkey === vkey);
    if (own.length === 0) return [];
    // 0 is no time.
    const times = own.map(({ signature }) => timestampOf(signature.signature) ?? 0).filter((time) => time > 0);
    return [{ name, vkey, at: times.length === 0 ? null : Math.min(...times), counts: asked.has(name) }];
  });
};

/** The names that the quorum reaches. A group knows only names that were defined before it, so this ends. */
const askedFor = ({ groups, quorum }: TlogPolicy): ReadonlySet<string> => {
  const asked = new Set([quorum]);
  for (const { name, members } of groups.toReversed()) {
    if (asked.has(name)) for (const member of members) asked.add(member);
  }
  return asked;
};

/** Whether the witnesses with these names are enough. A witness is one member, and a group another. */
export const quorumOf = ({ groups, quorum }: TlogPolicy, cosigned: ReadonlySet<string>): Quorum => {
  if (quorum === NO_QUORUM) return 'none';
  const met = new Set(cosigned);
  for (const { name, threshold, members } of groups) {
    if (members.filter((member) => met.has(member)).length >= threshold) met.add(name);
  }
  return met.has(quorum) ? 'met' : 'not_met';
};
