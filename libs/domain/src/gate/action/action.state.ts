import type { CommittedValue, Digest } from '#libs/crypto';
import type { CommittedTransaction } from '../../connectors/index.js';
import type { Actor, Timestamp, UserId } from '../../kernel/index.js';
import type {
  ActionEvent,
  ApprovalTerms,
  ApproverAnswer,
  BudgetCharge,
  ChangeLogWord,
  Decision,
  ExecutionClass,
  ExecutionOutcome,
  ShadowDecision,
  Submission,
  WitnessVerdict,
} from './action.events.js';
import { courseOf } from './decision-course.js';

type DataOf<Type extends ActionEvent['type']> = Extract<ActionEvent, { type: Type }>['data'];

export type ExecutionAttempt = DataOf<'ExecutionStarted'>;

/** What is on record of an attempt before it changes anything. */
export type ExecutionProgress = DataOf<'ExecutionProgress'>;

/** What the change log has said of an action. Members are null, or empty, for a tool that no change log witnesses. */
export interface ChangeLogState {
  /** At most one an attempt. */
  readonly progress: readonly ExecutionProgress[];
  /** What came before the outcome; at most one an attempt. */
  readonly reported: readonly ChangeLogWord[];
  /** Set by the outcome if the witness waits, or waited, for the change log. `reason` says why the outcome is unknown. */
  readonly awaited: { readonly reason: string | null; readonly until: Timestamp } | null;
  /** The attempt whose outcome is recorded, and what it committed. */
  readonly finished: { readonly attempt: number; readonly transaction: CommittedTransaction | null } | null;
  /** Whether a verdict says that the transaction is there, or that it is missing. */
  readonly word: 'seen' | 'absent' | null;
}

/** Shared by all actions whose tool no change log witnesses. */
export const NO_CHANGE_LOG: ChangeLogState = { progress: [], reported: [], awaited: null, finished: null, word: null };

/**
 * The state of an action that was submitted. `sealed` is missing because it cannot be seen in the action's stream: ask
 * the ledger (`LedgerTail.sealedUpTo`).
 */
export const RECORDED_STATES = ['pending_approval', 'executing', 'witnessing', 'recorded'] as const;
export type RecordedState = (typeof RECORDED_STATES)[number];

/** Every state of an action, also the one that the ledger adds. */
export const ACTION_STATES = [...RECORDED_STATES, 'sealed'] as const;

export const APPROVAL_STATUSES = ['pending', 'approved', 'denied', 'expired', 'cancelled'] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

/** What people were asked about an action, and what they said. */
export interface Approval {
  readonly terms: ApprovalTerms;
  readonly requestedAt: Timestamp;
  readonly status: ApprovalStatus;
  /** Every signature, oldest first, including those that no longer count. */
  readonly signatures: readonly (ApproverAnswer & { readonly at: Timestamp })[];
  /** Null while the approval is pending. */
  readonly decidedAt: Timestamp | null;
  readonly decidedBy: Actor | null;
  readonly reason: string | null;
  /** Digest of the context shown to the person who decided. Null if no person decided. */
  readonly decidedUnder: Digest | null;
  /** Digest of what the passkey of the person who decided signed. Absent if none did. */
  readonly decidedWith?: Digest;
  /** The people whose signatures made up the approval; empty if it was not approved. */
  readonly counted: readonly UserId[];
  /** Digest of the tool that was approved; null if it was not approved. */
  readonly toolDigest: Digest | null;
}

export type Action =
  | { readonly state: 'none' }
  /** An id that was reserved but never became an action. */
  | { readonly state: 'abandoned' }
  | LivingAction;

/** What deeds hold in place of the digest of a value that an event names or says. */
export interface Commitment {
  readonly value: CommittedValue;
  readonly digest: Digest;
  readonly commitment: Digest;
}

export interface LivingAction {
  readonly state: RecordedState;
  readonly submission: Submission;
  readonly createdAt: Timestamp;
  readonly decision: Decision | null;
  /** Null if no policy version in shadow was asked. */
  readonly shadow: ShadowDecision | null;
  readonly decidedAt: Timestamp | null;
  /** What the action was charged to budgets by its decision; empty if no budget bounds it. */
  readonly charges: readonly BudgetCharge[];
  readonly ready: {
    readonly class: ExecutionClass;
    readonly timeoutMs: number;
    readonly startBy: Timestamp;
    /** Whether the tool has a read-back. */
    readonly hasReadBack: boolean;
    /** Null if no change log witnesses the tool. */
    readonly changeLogTimeoutMs: number | null;
  } | null;
  readonly attempts: readonly ExecutionAttempt[];
  /** Null if no approval was required. */
  readonly approval: Approval | null;
  /** Set if the agent runs the tool itself (proxy mode). */
  readonly edge: { readonly deadline: Timestamp } | null;
  readonly outcome: ExecutionOutcome | null;
  /** Set by the outcome if the witness waits, or waited, for a read-back. `reason` says why the outcome is unknown. */
  readonly readBack: { readonly reason: string | null } | null;
  readonly changeLog: ChangeLogState;
  /** The first late report before the action was recorded that says more than `unknown`. */
  readonly lateReport: ExecutionOutcome | null;
  /** The newest verdict: that of the last amendment, if there was one. */
  readonly witness: WitnessVerdict | null;
  /**
   * What the deed holds in place of digests, but for those of the submission. Not in rows, because no deed is made from
   * them.
   */
  readonly commitments?: readonly Commitment[] | undefined;
  /** Revision of the last event folded. */
  readonly revision: number;
  /** Revision of the event that made the action `recorded`; the action's deed is made from this event. */
  readonly sealingRevision: number | null;
  /** Revision of the last `WitnessAmended` event, which has a deed of its own. */
  readonly amendedRevision: number | null;
}

type Known = NonNullable<unknown> | null;

/**
 * The part of an action that `doesFollow` reads. A fold that keeps less than {@link LivingAction} must keep at least
 * this.
 */
export interface FollowedAction {
  readonly state: RecordedState;
  readonly decision: Pick<Decision, 'outcome'> | null;
  readonly approval: {
    readonly status: ApprovalStatus;
    readonly terms: Pick<ApprovalTerms, 'required' | 'signed'>;
    readonly signatures: readonly Pick<ApproverAnswer, 'by'>[];
  } | null;
  readonly ready: Known;
  readonly edge: Known;
  readonly outcome: Known;
  readonly witness: Known;
  readonly attempts: readonly Pick<ExecutionAttempt, 'claim'>[];
}

/** Whether the outcome is recorded and its read-back is still open. */
export const awaitsReadBack = ({ state, readBack }: LivingAction): boolean =>
  state === 'witnessing' && readBack !== null;

/** Whether the outcome is recorded and the change log has not spoken of it yet. */
export const awaitsChangeLog = ({ state, changeLog }: LivingAction): boolean =>
  state === 'witnessing' && changeLog.awaited !== null;

/** What is on record of that attempt; null if it has not begun to change anything. */
export const progressOf = ({ changeLog }: LivingAction, attempt: number): ExecutionProgress | null =>
  changeLog.progress.find((progress) => progress.attempt === attempt) ?? null;

/** The newest attempt while no outcome is recorded; else null. */
export const currentAttempt = (action: LivingAction): ExecutionAttempt | null =>
  action.outcome ? null : (action.attempts.at(-1) ?? null);

/** When the call began: the start of its first attempt, even if `attempt` is a later one. */
export const beganAt = ({ attempts }: LivingAction, attempt: ExecutionAttempt): Timestamp =>
  attempts[0]?.at ?? attempt.at;

/**
 * How much of the call's timeout was left when the attempt was claimed, in milliseconds. Both times are from the
 * claimer's clock. If that clock was set back between two attempts, the result is still at most the whole timeout.
 */
export const remainingAtClaimMs = ({ ready }: LivingAction, { deadline, at }: ExecutionAttempt): number =>
  Math.min(ready?.timeoutMs ?? 0, Math.max(0, Date.parse(deadline) - Date.parse(at)));

export const ACTION_STATUSES = [
  ...(['executed', 'failed', 'authorized', 'processing'] as const),
  ...(['pending_approval', 'denied', 'expired', 'cancelled'] as const),
] as const;
export type ActionStatus = (typeof ACTION_STATUSES)[number];

/** The action's status in the API. An unknown outcome is `executed` with the verdict UNVERIFIABLE (rule GATE-5). */
export const statusOf = (action: LivingAction, isSealed: boolean): ActionStatus => {
  if (action.decision !== null && courseOf(action.decision) === 'ends') return 'denied';
  if (action.approval !== null && action.approval.status !== 'approved')
    return STATUS_OF_APPROVAL[action.approval.status];
  if (action.edge !== null && !action.outcome) return 'authorized';
  if (!isSealed || !action.outcome) return 'processing';
  return action.outcome.status === 'failed' ? 'failed' : 'executed';
};

const STATUS_OF_APPROVAL = {
  pending: 'pending_approval',
  denied: 'denied',
  expired: 'expired',
  cancelled: 'cancelled',
} as const satisfies Readonly<Record<Exclude<ApprovalStatus, 'approved'>, ActionStatus>>;

/**
 * The digest that the tool must still have when the call is sent: the one at submission, or the one that was approved
 * if the call waited for people.
 */
export const sendableToolDigest = ({ submission, approval }: LivingAction): Digest | null =>
  approval?.status === 'approved' ? approval.toolDigest : submission.tool_digest;
