import type { Digest } from '#libs/crypto';
import type { OrgId, Timestamp } from '../kernel/index.js';

/** What came of asking last. */
export type WitnessResult = 'cosigned' | 'unknown_log' | 'disagrees' | 'failing';

/** How a witness stands to one tree. Lost, it is asked from nothing again, and tells what it has. */
export interface WitnessStanding {
  /** The digest of its verifier key. */
  readonly witness: Digest;
  /** Of the last checkpoint that it cosigned; 0 before. */
  readonly size: number;
  readonly cosignedAt: Timestamp | null;
  readonly result: WitnessResult;
  /** What is wrong, as a sentence for people. */
  readonly detail: string | null;
  /** In a row. */
  readonly failures: number;
  /** Null: as soon as there is something to ask, or never again where it disagrees. */
  readonly nextTryAt: Timestamp | null;
}

export abstract class WitnessStandings {
  abstract of(org: OrgId, origin: string): Promise<ReadonlyMap<Digest, WitnessStanding>>;
  abstract put(org: OrgId, origin: string, standing: WitnessStanding): Promise<void>;
  /** Whoever disagreed is asked again: an operator has looked. */
  abstract resume(org: OrgId, origin: string): Promise<void>;
}

/** What a witness holds against a ledger: evidence, so it is never changed and never removed. */
export interface WitnessDispute {
  readonly witness: Digest;
  readonly name: string;
  readonly url: string;
  readonly said: 'ahead' | 'contradicted';
  /** Null where it did not say. */
  readonly theirSize: number | null;
  readonly ourNote: string;
  /** The latest checkpoint that it shows of our log; null where it shows none. */
  readonly theirNote: string | null;
  readonly at: Timestamp;
}

export abstract class WitnessDisputes {
  abstract of(org: OrgId, origin: string): Promise<readonly WitnessDispute[]>;
  /** The same word of the same moment is not kept twice. */
  abstract add(org: OrgId, origin: string, dispute: WitnessDispute): Promise<void>;
}
