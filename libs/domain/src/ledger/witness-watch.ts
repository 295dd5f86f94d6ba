import { encodeVkey } from '#libs/crypto';
import { type Clock, decodeEvent, type OrgId, type Timestamp, timestampOf } from '../kernel/index.js';
import { type CheckpointSigningKeys, checkpointVkey } from './checkpoint-keys.js';
import { signingCheckpointKeys } from './checkpoint-key.decider.js';
import type { CheckpointJournal } from './checkpoint-journal.js';
import type { LedgerEvent } from './deed.events.js';
import type { LedgerReader } from './ledger-reader.js';
import type { WitnessPolicies } from './witness-policies.js';
import type { WitnessStandings } from './witness.ports.js';

/** Deeds that no quorum has cosigned for so long need a person. */
export const WITNESS_LAG_MAX_MS = 60 * 60_000;

/** Deeds of a ledger that its quorum has not cosigned. */
export interface WitnessLag {
  /** Deeds that it has. */
  readonly size: number;
  /** Deeds of the ledger. */
  readonly sealed: number;
  /** Since when the first of them waits for it. */
  readonly since: Timestamp;
}

/** A witness that does not know the ledger, and what its operator needs. */
export interface UnintroducedWitness {
  readonly name: string;
  readonly verifierKeys: readonly string[];
}

export interface WitnessWatchParts {
  readonly policies: Pick<WitnessPolicies, 'of'>;
  readonly standings: Pick<WitnessStandings, 'of'>;
  readonly journal: Pick<CheckpointJournal, 'tail'>;
  readonly ledger: Pick<LedgerReader, 'lastSeq' | 'recordAt'>;
  readonly keys: Pick<CheckpointSigningKeys, 'list'>;
  readonly clock: Clock;
}

/** How far the witnesses of an organization are behind its ledger. */
export class WitnessWatch {
  constructor(private readonly parts: WitnessWatchParts) {}

  /** Null where nobody is asked, and where the quorum has all deeds. A witness that has a larger tree has every smaller one. */
  async lag(org: OrgId): Promise<WitnessLag | null> {
    const { policies, standings, journal, ledger } = this.parts;
    const { witnesses, quorum, updatedAt } = await policies.of(org);
    if (quorum === 0 || updatedAt === null) return null;
    const { last, origin, cosignatures } = await journal.tail(org);
    const known = origin === null ? null : await standings.of(org, origin);
    const sizes = witnesses.map(({ witness }) => {
      const isNewest = cosignatures.some((said) => said.witness === witness);
      return isNewest && last !== null ? last.checkpoint.size : (known?.get(witness)?.size ?? 0);
    });
    const size = sizes.toSorted((one, other) => other - one)[quorum - 1] ?? 0;
    const sealed = await ledger.lastSeq(org);
    const first = sealed > size ? await ledger.recordAt(org, size + 1) : null;
    if (first === null) return null;
    const { issued_at: issuedAt } = decodeEvent<LedgerEvent>(first).event.data;
    return { size, sealed, since: issuedAt > updatedAt ? issuedAt : updatedAt };
  }

  /** As {@link lag}, where it has lasted so long that it needs a person. */
  async overdue(org: OrgId): Promise<WitnessLag | null> {
    const lag = await this.lag(org);
    return lag !== null && this.ageOf(lag) > WITNESS_LAG_MAX_MS ? lag : null;
  }

  /** How long the first deed that the quorum has not cosigned has waited for it. */
  async ageMs(org: OrgId): Promise<number> {
    const lag = await this.lag(org);
    return lag === null ? 0 : this.ageOf(lag);
  }

  private ageOf({ since }: WitnessLag): number {
    return Math.max(0, this.parts.clock.nowMs() - Date.parse(since));
  }

  async unintroduced(org: OrgId): Promise<readonly UnintroducedWitness[]> {
    const { policies, standings, journal, keys, clock } = this.parts;
    const { witnesses } = await policies.of(org);
    if (witnesses.length === 0) return [];
    const { origin } = await journal.tail(org);
    if (origin === null) return [];
    const known = await standings.of(org, origin);
    const unknown = witnesses.filter(({ witness }) => known.get(witness)?.result === 'unknown_log');
    if (unknown.length === 0) return [];
    const signing = signingCheckpointKeys(await keys.list(), timestampOf(clock.nowMs()));
    const verifierKeys = signing.map(({ publicKey }) => encodeVkey(checkpointVkey(origin, publicKey)));
    return unknown.map(({ name }) => ({ name, verifierKeys }));
  }
}
