import {
  consistencyProof,
  encodeAddCheckpoint,
  isConsistent,
  knownKey,
  type NodeHashes,
  parseCosignatures,
  parseSignedNote,
  parseTreeSize,
  rootOfTree,
  type SignedNote,
  signatureLine,
  timestampOf as cosignedAtOf,
  TLOG_SIZE_MEDIA_TYPE,
  type Vkey,
  WitnessMessageError,
} from '#libs/crypto';
import { type OrgId, type Timestamp, timestampOf } from '../kernel/index.js';
import type { SignedTree } from './checkpoint-journal.js';

/** A witness that an organization asks. */
export interface AskedWitness {
  readonly vkey: Vkey;
  /** Of the witness; `/add-checkpoint` is below it. */
  readonly url: string;
}

export interface DoorAnswer {
  readonly status: number;
  readonly mediaType: string | null;
  /** At most 64 KiB. */
  readonly body: Uint8Array;
}

/** Why no answer came. Closed. */
export type DoorFault = 'blocked' | 'unreachable' | 'untrusted' | 'timeout' | 'broken' | 'too_large';

/** The way to witnesses: it judges the destination and follows no redirect. */
export abstract class WitnessDoor {
  /** @returns a fault where no answer came: nothing is known then */
  abstract post(org: OrgId, url: string, body: string): Promise<DoorAnswer | DoorFault>;
  abstract get(org: OrgId, url: string): Promise<DoorAnswer | DoorFault>;
}

/**
 * What a witness said. `ahead` and `contradicted`: somebody holds a longer or another tree under our key, so it is never asked
 * again. `unknown`: it does not know the log yet. `silent`: whatever else came, or nothing; a later pass asks again.
 */
export type WitnessSaid =
  | { readonly result: 'cosigned'; readonly line: string; readonly at: Timestamp }
  | { readonly result: 'ahead'; readonly size: number }
  | { readonly result: 'contradicted' }
  | { readonly result: 'unknown'; readonly status: number }
  | { readonly result: 'silent'; readonly why: number | DoorFault }
  /** Nothing was sent: the stored hashes do not prove that the tree continues what the witness has. */
  | { readonly result: 'unproven' };

export interface TreeToAskAbout {
  readonly signed: SignedTree;
  /** Of the tree that was signed, or of one that continues it. */
  readonly hashes: NodeHashes;
  /** What this witness had last, as far as is known: it tells its own size where that is another. */
  readonly lastSize: number;
}

/** Asks a witness to cosign a checkpoint (tlog-witness, add-checkpoint). Nothing ever waits for it. */
export class WitnessAsker {
  constructor(private readonly door: WitnessDoor) {}

  async ask(org: OrgId, witness: AskedWitness, tree: TreeToAskAbout): Promise<WitnessSaid> {
    const { size } = tree.signed.checkpoint;
    const note = parseSignedNote(Buffer.from(tree.signed.note));
    const asked = async (oldSize: number): Promise<DoorAnswer | DoorFault | null> => {
      const proof = await provenFrom(oldSize, tree);
      if (proof === null) return null;
      return this.door.post(org, `${witness.url}/add-checkpoint`, encodeAddCheckpoint({ oldSize, proof, note }));
    };
    const first = await asked(Math.min(tree.lastSize, size));
    const theirs = sizeIn(first);
    if (theirs === null) return saidBy(first, witness, note);
    if (theirs > size) return { result: 'ahead', size: theirs };
    // Once: it has moved on again only where others ask it, too.
    return saidBy(await asked(theirs), witness, note);
  }
}

/** Wrong hashes of ours would look to the witness like another history, and it would never forget. */
const provenFrom = async (
  from: number,
  { signed: { checkpoint }, hashes }: TreeToAskAbout,
): Promise<readonly Uint8Array[] | null> => {
  const { size: to, root: toRoot } = checkpoint;
  const proof = await consistencyProof(hashes, from, to);
  return isConsistent({ from, to, fromRoot: await rootOfTree(hashes, from), toRoot, proof }) ? proof : null;
};

const sizeIn = (answer: DoorAnswer | DoorFault | null): number | null => {
  if (answer === null || typeof answer === 'string' || answer.status !== 409) return null;
  if (answer.mediaType !== TLOG_SIZE_MEDIA_TYPE) return null;
  return read(() => parseTreeSize(answer.body));
};

const saidBy = (answer: DoorAnswer | DoorFault | null, { vkey }: AskedWitness, note: SignedNote): WitnessSaid => {
  if (answer === null) return { result: 'unproven' };
  if (typeof answer === 'string') return { result: 'silent', why: answer };
  const { status } = answer;
  if (status === 422) return { result: 'contradicted' };
  if (status === 403 || status === 404) return { result: 'unknown', status };
  const cosigned = status === 200 ? cosignedIn(answer, vkey, note) : null;
  return cosigned ?? { result: 'silent', why: status };
};

/** Its own line, where it verifies; lines of other keys are nobody's word. */
const cosignedIn = ({ body }: DoorAnswer, vkey: Vkey, note: SignedNote): WitnessSaid | null => {
  const known = knownKey(vkey);
  for (const line of read(() => parseCosignatures(body)) ?? []) {
    const isKnown = line.keyName === known.keyName && line.keyId === known.keyId;
    const seconds = isKnown ? cosignedAtOf(line.signature) : null;
    // 0 says nothing of the largest tree, and what is no date is no time.
    if (seconds === null || seconds === 0 || seconds > LAST_SECOND || !known.verify(note.text, line.signature))
      continue;
    return { result: 'cosigned', line: signatureLine(line), at: timestampOf(seconds * 1_000) };
  }
  return null;
};

/** The end of the year 9999. */
const LAST_SECOND = 253_402_300_799;

const read = <Value>(parse: () => Value): Value | null => {
  try {
    return parse();
  } catch (error) {
    if (error instanceof WitnessMessageError) return null;
    throw error;
  }
};
