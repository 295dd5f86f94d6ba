// The one file of the Console that runs code of the service: that with which the command line and verify.html judge
// checkpoints, proofs and cosignatures (ADR 45). It is loaded when something is checked.
import {
  type CheckpointRefusal,
  encodeVkey,
  isIncluded,
  judgeCheckpoint,
  leafHash,
  parsePolicy,
  parsePublicKeyText,
  parseTlogProof,
  type ReadTlogProof,
  sha256,
  SIGNATURE_TYPE,
  type SignedCheckpoint,
  type Vkey,
  vkeyOf,
} from '#libs/crypto';
import type { Check } from './check-deed.ts';

/** What a service says for the place of a deed in its tree, as text and as it came. */
export interface GivenProof {
  readonly org: string;
  /** Where the list has the deed; the first has 1. */
  readonly seq: number;
  /** The bytes of the deed. */
  readonly bytes: Uint8Array;
  /** The answer of `GET /v1/deeds/{id}/proof`. */
  readonly proof: string;
  /** The published checkpoint keys, retired ones too: `ed25519:` and base64url. */
  readonly keys: readonly string[];
  /** The organization's witnesses as a tlog-policy. */
  readonly policy: string;
}

/** The verifier key of a tree (c2sp.org/signed-note), as witnesses and `verify --checkpoint-key` take it. */
export const vkeyText = (origin: string, publicKey: string): string => encodeVkey(vkeyIn(origin, publicKey));

const vkeyIn = (origin: string, publicKey: string): Vkey =>
  vkeyOf(origin, SIGNATURE_TYPE.ed25519, parsePublicKeyText(publicKey).bytes);

const IN_CHECKPOINT = 'In a checkpoint';
const WITNESSED = 'Witnessed';

const REFUSED: Readonly<Record<CheckpointRefusal, string>> = {
  bad_checkpoint: 'The service gave something that is no checkpoint',
  wrong_origin: 'The checkpoint is of another ledger',
  bad_log_signature: 'The signature of the checkpoint does not verify',
  bad_cosignature: 'A cosignature on the checkpoint does not verify, so it may have been altered',
  checkpoint_not_signed: 'No published checkpoint key signed it',
};

/** Whether a deed is under a checkpoint of its organization, and who has cosigned that. */
export const checkProof = (given: GivenProof): readonly Check[] => {
  const read = readProof(given.proof);
  if (read === null) return [failed('The proof cannot be read')];
  const { origin } = read.checkpoint;
  if (!isOriginOf(given.org, origin)) return [failed(REFUSED.wrong_origin)];
  const judged = judgeCheckpoint(
    read.note,
    parsePolicy(new TextEncoder().encode(given.policy)),
    given.keys.map((key) => vkeyIn(origin, key)),
  );
  if (judged.result === 'refused') return [failed(REFUSED[judged.reason])];
  return [included(given, read, judged), witnessed(judged)];
};

const failed = (says: string): Check => ({ name: IN_CHECKPOINT, holds: false, says });

const readProof = (proof: string): ReadTlogProof | null => {
  try {
    return parseTlogProof(new TextEncoder().encode(proof));
  } catch {
    return null;
  }
};

/** `<host>/ledger/<org>`, and a number more after each break that was accepted. */
const isOriginOf = (org: string, origin: string): boolean => {
  const [, ledger = '', rest = ''] = /\/ledger\/([^/]+)(\/.*)?$/.exec(origin) ?? [];
  return ledger === org && /^(?:\/[1-9][0-9]*)?$/.test(rest);
};

const included = (
  { seq, bytes }: GivenProof,
  { index, proof }: ReadTlogProof,
  { checkpoint: { size, root } }: SignedCheckpoint,
): Check => {
  const holds = index === seq - 1 && isIncluded({ index, size, root, proof, leafHash: leafHash(sha256(bytes)) });
  return {
    name: IN_CHECKPOINT,
    holds,
    says: holds
      ? `${proof.length} hashes lead from this deed to the signed root of ${counted(size, 'deed')}`
      : 'The proof does not lead from this deed, at its place, to the signed root',
  };
};

const witnessed = ({ witnesses, quorum }: SignedCheckpoint): Check => {
  const words = witnesses.map(({ name, at }) => (at === null ? `${name}, at no time` : `${name}, ${instantOf(at)}`));
  const who = words.length === 0 ? 'No witness of your policy has cosigned it' : `Cosigned by ${words.join('; ')}`;
  if (quorum === 'none') {
    return {
      name: WITNESSED,
      holds: null,
      says: 'Your organization asks no witness: the checkpoint is the word of the service alone',
    };
  }
  if (quorum === 'not_met') return { name: WITNESSED, holds: null, says: `${who}. Your policy asks for more` };
  return { name: WITNESSED, holds: true, says: `${who}, by their own clocks` };
};

const counted = (count: number, what: string): string =>
  `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;

/** As the Console writes instants whole, always in UTC: it is the witness's time. */
const instantOf = (seconds: number): string =>
  `${new Date(seconds * 1_000).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
