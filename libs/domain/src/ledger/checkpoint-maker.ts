import {
  type Checkpoint,
  consistencyProof,
  encodeCheckpoint,
  formatNote,
  isConsistent,
  knownKey,
  parseSignedNote,
  rootOfTree,
  signNote,
  type SignedNote,
  type Vkey,
} from '#libs/crypto';
import {
  type Clock,
  type CommandMetadata,
  failpoint,
  ForeseenFault,
  type OrgId,
  RevisionConflict,
  timestampOf,
} from '../kernel/index.js';
import type { CheckpointEvent } from './checkpoint.events.js';
import { rootText, type CheckpointJournal, type CheckpointTail, type SignedTree } from './checkpoint-journal.js';
import { type CheckpointSigningKeys, kidOf, type SigningKeys } from './checkpoint-keys.js';
import type { BrokenLedger, BrokenLedgers, LedgerBreakReason } from './checkpoint.ports.js';
import { LedgerBreaks } from './ledger-breaks.js';
import type { LedgerDisputes } from './ledger-disputes.js';
import type { LedgerReader } from './ledger-reader.js';
import { AlteredDeed, type GrownTree, type LedgerTrees, TreeMoved } from './ledger-tree.js';
import { originNumber, type RememberedTree, type RememberedTrees, standingOf } from './remembered-trees.js';

/** Of one organization; another process that signs at the same time wins at most as often. */
const MAX_CONFLICTS = 4;

/** The ledger does not continue what was signed: nothing is signed until an operator has looked. */
export class LedgerInconsistent extends ForeseenFault {
  override readonly name = 'LedgerInconsistent';
  constructor(readonly broken: BrokenLedger) {
    super(
      `The ledger of ${broken.org} does not continue what was signed (${broken.reason}: ${broken.size} deeds, ` +
        `${broken.signedSize} signed), so nothing more is signed. docs/checkpoints.md says what to do.`,
    );
  }
}

/** The newest checkpoint; `isNew` where this call made it. */
export interface NewestCheckpoint {
  readonly signed: SignedTree;
  readonly isNew: boolean;
}

export interface CheckpointMakerParts {
  readonly ledger: Pick<LedgerReader, 'lastSeq'>;
  readonly trees: Pick<LedgerTrees, 'grownTo' | 'madeAnew'>;
  readonly journal: Pick<CheckpointJournal, 'tail' | 'append'>;
  readonly keys: Pick<CheckpointSigningKeys, 'signing'>;
  readonly remembered: RememberedTrees;
  readonly broken: BrokenLedgers;
  readonly disputes: Pick<LedgerDisputes, 'stand' | 'settle'>;
  readonly clock: Clock;
  /** Of a first checkpoint: `<host>/ledger/<org id>`. */
  readonly originOf: (org: OrgId) => string;
}

/**
 * Signs the root of a ledger as it is now. Before it signs, it proves to itself that the tree extends the one it signed
 * last, as a witness would: from the hashes, never by what must be so (rule DEED-19).
 */
export class CheckpointMaker {
  constructor(private readonly parts: CheckpointMakerParts) {}

  /**
   * @returns null before the first deed
   * @throws {LedgerInconsistent} nothing was signed, and nothing is until an operator ends that
   */
  async make(org: OrgId, metadata: CommandMetadata): Promise<NewestCheckpoint | null> {
    const known = await this.parts.broken.of(org);
    if (known !== null) throw new LedgerInconsistent(known);
    return this.makeAnyway(org, metadata);
  }

  /** As {@link make}, for the operator who looks again at a ledger that was found broken: it ends where nothing is. */
  async lookAgain(org: OrgId, metadata: CommandMetadata): Promise<NewestCheckpoint | null> {
    await this.requireUndisputed(org);
    const made = await this.makeAnyway(org, metadata);
    await this.parts.broken.remove(org);
    if (made !== null) await this.parts.disputes.settle(org, made.signed.checkpoint.origin);
    return made;
  }

  /**
   * Accepts that the ledger does not go on from what was signed, and begins another tree with an origin of its own: under
   * the old one there would be two histories. Where nothing is broken it changes nothing, and a deed that was altered makes
   * no leaf of any tree.
   */
  async acceptBreak(org: OrgId, reason: string, metadata: CommandMetadata): Promise<NewestCheckpoint | null> {
    try {
      return await this.lookAgain(org, metadata);
    } catch (error) {
      if (!(error instanceof LedgerInconsistent) || error.broken.reason === 'altered_deed') throw error;
    }
    await new LedgerBreaks(this.parts).accept(org, reason, metadata);
    return this.lookAgain(org, metadata);
  }

  /** Where a witness found it, the ledger alone cannot tell: what the witness holds against it must be answered. */
  private async requireUndisputed(org: OrgId): Promise<void> {
    const { broken, journal, ledger, disputes } = this.parts;
    const known = await broken.of(org);
    if (known === null || !isOfWitness(known.reason)) return;
    const { origin } = await journal.tail(org);
    const now = { size: await ledger.lastSeq(org), since: known.since };
    if (origin === null || !(await disputes.stand(org, origin, now))) return;
    throw new LedgerInconsistent(known);
  }

  private async makeAnyway(org: OrgId, metadata: CommandMetadata): Promise<NewestCheckpoint | null> {
    for (let conflicts = 0; ; conflicts += 1) {
      try {
        return await this.attempt(org, metadata);
      } catch (error) {
        // Somebody else signs, or grows the tree.
        const isOvertaken = error instanceof RevisionConflict || error instanceof TreeMoved;
        if (!isOvertaken || conflicts === MAX_CONFLICTS) throw error;
      }
    }
  }

  private async attempt(org: OrgId, metadata: CommandMetadata): Promise<NewestCheckpoint | null> {
    const { journal, ledger, remembered: outside } = this.parts;
    // First: what another process signs meanwhile is then in the log and in the ledger, and never only remembered.
    const remembered = await outside.of(org);
    const tail = await journal.tail(org);
    // After the tail: what it signed was in the ledger before.
    const size = await ledger.lastSeq(org);
    const signed = await this.signedBefore(org, tail, remembered, size);
    const signedSize = Math.max(0, ...signed.map((tree) => tree.size));
    if (size < signedSize) throw await this.brokenBy(org, 'shorter', size, signedSize);
    if (size === 0) return null;
    const root = await this.provenRoot(org, signed, size);
    if (tail.last !== null && size === tail.last.checkpoint.size) {
      await this.keep(org, tail.last.checkpoint, remembered);
      return { signed: tail.last, isNew: false };
    }
    await failpoint('ckpt.tiles');
    const origin = tail.origin ?? remembered?.origin ?? this.parts.originOf(org);
    const made = await this.sign(org, tail, remembered, { origin, size, root }, metadata);
    return { signed: made, isNew: true };
  }

  /** What the next tree must extend: what the log says was signed, and what is remembered outside of it. */
  private async signedBefore(
    org: OrgId,
    tail: CheckpointTail,
    remembered: RememberedTree | null,
    size: number,
  ): Promise<readonly SignedSize[]> {
    const logged = tail.last === null ? [] : [tail.last.checkpoint];
    if (remembered === null) return logged;
    const standing = standingOf(remembered, tail);
    if (standing === 'newer') throw await this.brokenBy(org, 'other_origin', size, remembered.size);
    return standing === 'older' ? logged : [...logged, { ...remembered, root: Buffer.from(remembered.root, 'base64') }];
  }

  /** Remembers a checkpoint outside of the database before it leaves. */
  private async keep(org: OrgId, { origin, size, root }: Checkpoint, known: RememberedTree | null): Promise<void> {
    if (known?.origin === origin && known.size >= size) return;
    const begun = originNumber(origin);
    await this.parts.remembered.remember({ org, origin, size, root: rootText(root), begun });
  }

  /** The root of so many deeds, proven to extend what was signed last. */
  private async provenRoot(org: OrgId, signed: readonly SignedSize[], size: number): Promise<Uint8Array> {
    const { trees } = this.parts;
    const signedSize = Math.max(0, ...signed.map((tree) => tree.size));
    try {
      const root = await rootExtending(await trees.grownTo(org, size), signed, size);
      // What is stored may be at fault, and not the ledger: only the ledger itself is asked then.
      const proven = root ?? (await rootExtending(await trees.madeAnew(org, size), signed, size));
      if (proven !== null) return proven;
    } catch (error) {
      if (!(error instanceof AlteredDeed)) throw error;
      throw await this.brokenBy(org, 'altered_deed', size, signedSize);
    }
    throw await this.brokenBy(org, 'other_root', size, signedSize);
  }

  private async brokenBy(
    org: OrgId,
    reason: LedgerBreakReason,
    size: number,
    signedSize: number,
  ): Promise<LedgerInconsistent> {
    const since = timestampOf(this.parts.clock.nowMs());
    const broken = { org, reason, size, signedSize, since };
    await this.parts.broken.add(broken);
    return new LedgerInconsistent(broken);
  }

  private async sign(
    org: OrgId,
    tail: CheckpointTail,
    remembered: RememberedTree | null,
    checkpoint: Checkpoint,
    metadata: CommandMetadata,
  ): Promise<SignedTree> {
    const { journal, keys } = this.parts;
    const { origin, size, root } = checkpoint;
    const keysNow = await keys.signing(origin);
    const note = formatNote(
      signNote(
        encodeCheckpoint(checkpoint),
        keysNow.signers.map(({ signer }) => signer),
      ),
    );
    // Where the append then fails, the tree that is remembered is signed again, or one that continues it.
    await this.keep(org, checkpoint, remembered);
    await failpoint('ckpt.kept');
    const at = metadata.now;
    const data = { org, origin, size, root: rootText(root), note, at };
    const acts = keyActs({ org, origin, at }, tail, keysNow);
    await journal.append(org, tail, [...acts, { type: 'CheckpointMade', data }], metadata);
    return { checkpoint, note, at };
  }
}

const isOfWitness = (reason: LedgerBreakReason): boolean =>
  reason === 'witness_ahead' || reason === 'witness_disagrees';

type SignedSize = Pick<Checkpoint, 'size' | 'root'>;

/** Null where the tree does not extend each of those that were signed. */
const rootExtending = async (
  { hashes }: GrownTree,
  signed: readonly SignedSize[],
  size: number,
): Promise<Uint8Array | null> => {
  const toRoot = await rootOfTree(hashes, size);
  for (const { size: from, root: fromRoot } of signed) {
    const proof = await consistencyProof(hashes, from, size);
    if (!isConsistent({ from, to: size, fromRoot, toRoot, proof })) return null;
  }
  return toRoot;
};

/** What the organization's chain says of the keys: which sign from this checkpoint on, and which no more. */
const keyActs = (
  about: { readonly org: OrgId; readonly origin: string; readonly at: string },
  { last }: CheckpointTail,
  { signers, ended }: SigningKeys,
): readonly CheckpointEvent[] => {
  const before = last === null ? null : parseSignedNote(Buffer.from(last.note));
  const signedBefore = (vkey: Vkey): boolean => before !== null && hasSigned(before, vkey);
  const announced = signers.flatMap(({ key, signer }): CheckpointEvent[] => {
    const { publicKey: public_key, activatedAt: activated_at } = key;
    const data = { kid: kidOf(public_key), alg: 'Ed25519' as const, public_key, activated_at };
    return signedBefore(signer.vkey) ? [] : [{ type: 'CheckpointKeyAnnounced', data: { ...about, ...data } }];
  });
  const withdrawn = ended.flatMap(({ key: { publicKey: public_key }, vkey }): CheckpointEvent[] => {
    const data = { kid: kidOf(public_key), public_key };
    return signedBefore(vkey) ? [{ type: 'CheckpointKeyWithdrawn', data: { ...about, ...data } }] : [];
  });
  return [...announced, ...withdrawn];
};

const hasSigned = ({ text, signatures }: SignedNote, vkey: Vkey): boolean => {
  const known = knownKey(vkey);
  return signatures.some(
    ({ keyName, keyId, signature }) =>
      keyName === known.keyName && keyId === known.keyId && known.verify(text, signature),
  );
};
