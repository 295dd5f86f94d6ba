import type { Digest } from '#libs/crypto';
import type { ApprovalStatus } from '../gate/index.js';
import type { ActionId, AgentId, OrgId, Timestamp } from '../kernel/index.js';
import type { ReplayOutcome, ReplayWindow } from './replay.js';

/** Where a replay stands: behind this action. */
export interface ReplayCursor {
  readonly createdAt: Timestamp;
  readonly action: ActionId;
}

/** One recorded action, as far as a replay reads it. */
export interface RecordedCall {
  readonly action: ActionId;
  readonly createdAt: Timestamp;
  readonly agent: AgentId;
  /** Qualified, as it was asked for. */
  readonly tool: string;
  /** Null while it is not decided. */
  readonly decision: ReplayOutcome | null;
  /** Of the execution, else of the decision. */
  readonly errorCode: string | null;
  /** Null where no person was asked. */
  readonly approval: ApprovalStatus | null;
  readonly inputDigest: Digest;
  /** What the policy judged, as JSON text; null where it is stored no more. Not checked against the digest. */
  readonly input: string | null;
}

/**
 * Recorded actions as lists know them. Only for looking back: no decision about a call reads this. Adapter:
 * libs/infra/src/replays.
 */
export abstract class RecordedCalls {
  /** How many actions the window holds, counted up to `limit`. */
  abstract count(org: OrgId, window: ReplayWindow, limit: number): Promise<number>;
  /** The next actions of the window by (created_at, id), at most a page of them; none at its end. */
  abstract page(org: OrgId, window: ReplayWindow, after: ReplayCursor | null): Promise<readonly RecordedCall[]>;
}
