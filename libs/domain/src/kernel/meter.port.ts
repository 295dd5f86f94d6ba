import type { CallMode, PolicyMode } from './closed-sets.js';
import type { OrgId } from './ids.js';

export type SweeperName =
  'crash_recovery' | 'unsealed' | 'approval_expiry' | 'budget_reservations' | 'idempotency_release';

/** What a transaction of a change log was: `foreign` ones change nothing that is watched, or are of another deployment. */
export type SeenTransaction = 'witnessed' | 'bypass' | 'forged' | 'foreign';

/** How a decoder of this process is. */
export interface MeteredDecoder {
  readonly status: 'healthy' | 'degraded' | 'down' | 'invalidated';
  readonly lagBytes: number;
  readonly lagMs: number;
}

/** How a request was answered, and how long that took. */
export interface AnsweredRequest {
  /** The pattern of the route; null if no route matched. */
  readonly route: string | null;
  readonly method: string;
  readonly status: number;
  readonly durationMs: number;
}

/**
 * Counts what an operator watches (rule OPS-3). Every call returns at once and never throws. Adapter:
 * libs/infra/src/metrics.
 */
export interface Meter {
  requestBegan(): void;
  requestEnded(request: AnsweredRequest): void;
  /** A submission was answered with the action that it made; `status` is the HTTP status of that answer. */
  actionAnswered(mode: CallMode, status: number): void;
  /** The time that the service added to a call that was executed, not counting the time of the tool itself. */
  gateOverhead(overheadMs: number): void;
  /**
   * A policy version was read and compiled. If it is not usable, its organization's actions get `policy_unavailable`.
   */
  policyLoaded(isUsable: boolean): void;
  /**
   * An action of the organization was judged, either by a policy of that organization or, if it has none, without one.
   */
  organizationJudged(org: OrgId, hasPolicy: boolean): void;
  policyTimeLimitTripped(mode: PolicyMode): void;
  jobEnded(kind: string, result: 'done' | 'retry' | 'error'): void;
  /** `skipped`: the previous sweep was still running. */
  sweepEnded(sweeper: SweeperName, result: 'done' | 'skipped' | 'error'): void;
  /** The decoder of a change log has read a transaction and recorded what there was to record. */
  transactionSeen(result: SeenTransaction): void;
  /** @param decoder null: this process follows the log of the connector no more */
  decoderStands(connector: string, decoder: MeteredDecoder | null): void;
  /** How long the deed that waits longest for its quorum of witnesses has done so; 0 where none does, or others ask. */
  ledgersWitnessed(ageMs: number): void;
}

const nothing = (): void => undefined;

/** A meter that counts nothing, for programs without metrics. */
export const NO_METER: Meter = {
  requestBegan: nothing,
  requestEnded: nothing,
  actionAnswered: nothing,
  gateOverhead: nothing,
  policyLoaded: nothing,
  organizationJudged: nothing,
  policyTimeLimitTripped: nothing,
  jobEnded: nothing,
  sweepEnded: nothing,
  transactionSeen: nothing,
  decoderStands: nothing,
  ledgersWitnessed: nothing,
};
