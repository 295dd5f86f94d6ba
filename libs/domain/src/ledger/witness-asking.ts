import { encodeHex, encodeVkey, parseVkey, sha256Hex, TileError } from '#libs/crypto';
import {
  type Clock,
  type CommandMetadata,
  failpoint,
  type Logger,
  type OrgId,
  type Randomness,
  SYSTEM,
  type Timestamp,
  timestampOf,
} from '../kernel/index.js';
import type { CheckpointJournal, SignedTree } from './checkpoint-journal.js';
import type { CheckpointSigningKeys } from './checkpoint-keys.js';
import type { BrokenLedgers } from './checkpoint.ports.js';
import type { LedgerTrees } from './ledger-tree.js';
import { type DoorFault, type WitnessAsker, type WitnessDoor, type WitnessSaid } from './witness-asker.js';
import type { WitnessPolicies } from './witness-policies.js';
import type { LedgerWitness } from './witness-policy.decider.js';
import type { WitnessDispute, WitnessDisputes, WitnessStanding, WitnessStandings } from './witness.ports.js';

const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 15 * 60_000;
const MAX_NOTE_BYTES = 64 * 1024;

export interface WitnessAskingParts {
  readonly journal: Pick<CheckpointJournal, 'tail' | 'cosign'>;
  readonly trees: Pick<LedgerTrees, 'stored' | 'madeAnew'>;
  readonly keys: Pick<CheckpointSigningKeys, 'signing'>;
  readonly broken: Pick<BrokenLedgers, 'of' | 'add'>;
  readonly policies: Pick<WitnessPolicies, 'of'>;
  readonly standings: WitnessStandings;
  readonly disputes: WitnessDisputes;
  readonly door: Pick<WitnessDoor, 'get'>;
  readonly asker: Pick<WitnessAsker, 'ask'>;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly logger: Logger;
}

/** A witness that is being asked about the newest checkpoint. */
export interface Asking {
  readonly witness: LedgerWitness;
  /** How it stands when it has answered, or has not; null where nothing was asked after all. */
  readonly done: Promise<WitnessStanding | null>;
}

/** What is asked of whom, about which tree. */
interface Question {
  readonly org: OrgId;
  readonly witness: LedgerWitness;
  readonly signed: SignedTree;
  readonly before: WitnessStanding | null;
}

/**
 * Asks the witnesses of an organization about its newest checkpoint, and keeps what they say. It may be ended at any moment and
 * run twice at once: a witness says the same again, and of one size its line is recorded once.
 */
export class WitnessAsking {
  constructor(private readonly parts: WitnessAskingParts) {}

  /**
   * Asks everyone who has not cosigned it, is not waited for, and was not found to disagree. Nobody where the ledger is broken.
   * @param isPressing asks those, too, who failed lately
   */
  async begin(org: OrgId, isPressing = false): Promise<readonly Asking[]> {
    const { policies, broken, journal, standings, clock } = this.parts;
    const { witnesses } = await policies.of(org);
    if (witnesses.length === 0 || (await broken.of(org)) !== null) return [];
    const { last, cosignatures } = await journal.tail(org);
    if (last === null) return [];
    const known = await standings.of(org, last.checkpoint.origin);
    const now = timestampOf(clock.nowMs());
    return witnesses.flatMap((witness): Asking[] => {
      const before = known.get(witness.witness) ?? null;
      if (cosignatures.some((said) => said.witness === witness.witness) || before?.result === 'disagrees') return [];
      if (!isPressing && (before?.nextTryAt ?? now) > now) return [];
      return [{ witness, done: this.ask({ org, witness, signed: last, before }) }];
    });
  }

  private async ask(question: Question): Promise<WitnessStanding | null> {
    const said = await this.answerTo(question);
    await failpoint('wit.answered');
    const { org, signed } = question;
    const standing = await this.recorded(question, said);
    if (standing !== null) await this.parts.standings.put(org, signed.checkpoint.origin, standing);
    return standing;
  }

  private async answerTo({ org, witness: { vkey, url }, signed, before }: Question): Promise<WitnessSaid> {
    const { trees, asker } = this.parts;
    const asked = async (hashes: Awaited<ReturnType<LedgerTrees['stored']>>['hashes']): Promise<WitnessSaid> => {
      try {
        return await asker.ask(org, { vkey: parseVkey(vkey), url }, { signed, hashes, lastSize: before?.size ?? 0 });
      } catch (error) {
        if (error instanceof TileError) return { result: 'unproven' };
        throw error;
      }
    };
    const said = await asked((await trees.stored(org)).hashes);
    if (said.result !== 'unproven') return said;
    // What is stored may be at fault, and not the ledger: only the ledger itself is asked then.
    return asked((await trees.madeAnew(org, signed.checkpoint.size)).hashes);
  }

  /** @returns null where nothing is to be remembered: the witness was asked by others about a later one meanwhile */
  private async recorded(question: Question, said: WitnessSaid): Promise<WitnessStanding | null> {
    switch (said.result) {
      case 'cosigned':
        return this.cosigned(question, said.line, said.at);
      case 'unknown':
        return this.failed(question, 'unknown_log', await this.introduction(question, said.status));
      case 'silent':
        return this.failed(question, 'failing', sentenceOf(said.why));
      case 'unproven':
        return this.failed(question, 'failing', 'The hashes of the ledger that are stored here prove nothing.');
      case 'ahead': {
        const { last } = await this.parts.journal.tail(question.org);
        if (last !== null && last.checkpoint.size >= said.size) return null;
        return this.disputed(question, { said: 'ahead', theirSize: said.size });
      }
      case 'contradicted':
        return this.disputed(question, { said: 'contradicted', theirSize: null });
    }
  }

  private async cosigned({ org, witness, signed }: Question, line: string, at: Timestamp): Promise<WitnessStanding> {
    const { origin, size } = signed.checkpoint;
    const { witness: id, name } = witness;
    const metadata = this.metadata(org);
    const data = { org, origin, size, witness: id, name, line, cosigned_at: at, at: metadata.now };
    await this.parts.journal.cosign(org, data, metadata);
    const calm = { detail: null, failures: 0, nextTryAt: null };
    return { witness: id, size, cosignedAt: at, result: 'cosigned', ...calm };
  }

  private failed(
    { witness: { witness }, before }: Question,
    result: 'unknown_log' | 'failing',
    detail: string,
  ): WitnessStanding {
    const failures = (before?.failures ?? 0) + 1;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 10), LONGEST_PAUSE_MS);
    const nextTryAt = timestampOf(this.parts.clock.nowMs() + pauseMs);
    const { size, cosignedAt } = before ?? { size: 0, cosignedAt: null };
    return { witness, size, cosignedAt, result, detail, failures, nextTryAt };
  }

  private async introduction({ signed }: Question, status: number): Promise<string> {
    const { signers } = await this.parts.keys.signing(signed.checkpoint.origin);
    const keys = signers.map(({ signer }) => encodeVkey(signer.vkey)).join(' and ');
    return `It does not know this ledger (${status}). Give its operator the verifier key ${keys}`;
  }

  /** The evidence first, then that nothing more is signed, then that it is asked no more: each is repeated until it is done. */
  private async disputed(
    question: Question,
    { said, theirSize }: Pick<WitnessDispute, 'said' | 'theirSize'>,
  ): Promise<WitnessStanding | null> {
    const { disputes, broken, clock, logger } = this.parts;
    const { org, witness, signed, before } = question;
    const { origin, size } = signed.checkpoint;
    const at = timestampOf(clock.nowMs());
    const theirNote = await this.noteOf(question);
    // It may have been removed while it was asked: an owner who no longer trusts it is not held up by it.
    const { witnesses } = await this.parts.policies.of(org);
    if (!witnesses.some((asked) => asked.witness === witness.witness)) return null;
    const { witness: id, name, url } = witness;
    const notes = { ourNote: signed.note, theirNote };
    await disputes.add(org, origin, { witness: id, name, url, said, theirSize, ...notes, at });
    await failpoint('wit.disputed');
    const reason = said === 'ahead' ? 'witness_ahead' : 'witness_disagrees';
    await broken.add({ org, reason, size, signedSize: theirSize ?? size, since: at });
    logger.error('a witness holds another ledger under our key; nothing more is signed', { org_id: org, name, reason });
    const detail =
      theirSize === null
        ? `It says that the ledger of ${size} deeds does not continue what it cosigned before.`
        : `It cosigned a ledger of ${theirSize} deeds under our key, and this one has ${size}.`;
    const { size: last, cosignedAt } = before ?? { size: 0, cosignedAt: null };
    return { witness: id, size: last, cosignedAt, result: 'disagrees', detail, failures: 0, nextTryAt: null };
  }

  /** What it shows of our log, as far as it shows it (tlog-witness, monitoring). It is evidence, and judged by whoever reads it. */
  private async noteOf({ org, witness: { url }, signed }: Question): Promise<string | null> {
    const { origin } = signed.checkpoint;
    const answer = await this.parts.door.get(org, `${url}/${sha256Hex(Buffer.from(origin))}/checkpoint`);
    if (typeof answer === 'string' || answer.status !== 200 || answer.body.byteLength > MAX_NOTE_BYTES) return null;
    const text = Buffer.from(answer.body).toString();
    return text.startsWith(`${origin}\n`) && !text.includes('\0') ? text : null;
  }

  private metadata(org: OrgId): CommandMetadata {
    const { clock, randomness } = this.parts;
    const commandId = encodeHex(randomness.bytes(16));
    return { org, actor: SYSTEM, requestId: null, commandId, now: timestampOf(clock.nowMs()) };
  }
}

const FAULTS: Readonly<Record<DoorFault, string>> = {
  blocked: 'Its address is not open to the service.',
  unreachable: 'It cannot be reached.',
  untrusted: 'Its certificate is not good for its name.',
  timeout: 'It did not answer in time.',
  broken: 'Its answer broke off.',
  too_large: 'Its answer is larger than 64 KiB.',
};

const sentenceOf = (why: number | DoorFault): string => {
  if (typeof why === 'string') return FAULTS[why];
  if (why === 200) return 'Its answer holds no cosignature of this checkpoint by its key.';
  if (why >= 300 && why < 400) return `It answered ${why}, and the service follows no redirect.`;
  return `It answered ${why}.`;
};
