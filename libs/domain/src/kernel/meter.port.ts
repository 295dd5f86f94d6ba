import type { OrgId } from './ids.js';

export type SweeperName =
  'crash_recovery' | 'unsealed' | 'approval_expiry' | 'budget_reservations' | 'idempotency_release';

/** What a request was answered with, and how long that took. */
export interface AnsweredRequest {
  /** The pattern; null where no route matched. */
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
  /** A submission that was answered by the action it made; `status` is that of the answer. */
  actionAnswered(mode: 'gateway' | 'proxy', status: number): void;
  /** What the service added to a call that went through, beside what the tool itself took. */
  gateOverhead(overheadMs: number): void;
  /** A version was read and compiled. One that cannot be used makes its organization's actions `policy_unavailable`. */
  policyLoaded(isUsable: boolean): void;
  /** An action of the organization was judged, by a policy of its own or by none. */
  organizationJudged(org: OrgId, hasPolicy: boolean): void;
  policyTimeLimitTripped(mode: 'enforce' | 'shadow'): void;
  jobEnded(kind: string, result: 'done' | 'retry' | 'error'): void;
  /** `skipped`: the one before it was still under way. */
  sweepEnded(sweeper: SweeperName, result: 'done' | 'skipped' | 'error'): void;
}

const nothing = (): void => undefined;

/** For programs that nobody watches. */
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
};
