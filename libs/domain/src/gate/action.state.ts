import type { Digest } from '#libs/crypto';
import type { Actor, Timestamp, UserId } from '../kernel/index.js';
import type {
  ActionEvent,
  ApprovalTerms,
  ApprovalWord,
  BudgetCharge,
  Decision,
  ExecutionClass,
  ExecutionOutcome,
  ShadowDecision,
  Submission,
  WitnessVerdict,
} from './action.events.js';

type DataOf<Type extends ActionEvent['type']> = Extract<ActionEvent, { type: Type }>['data'];

export type ExecutionAttempt = DataOf<'ExecutionStarted'>;

/** Where a live action stands. `sealed` is the ledger's word, not the stream's (`LedgerTail.sealedUpTo`). */
export type RecordedState = 'pending_approval' | 'executing' | 'witnessing' | 'recorded';

export type ApprovalStatus = 'pending' | 'approved' | 'denied' | 'expired' | 'cancelled';

/** What people were asked about an action, and what they said. */
export interface Approval {
  readonly terms: ApprovalTerms;
  readonly requestedAt: Timestamp;
  readonly status: ApprovalStatus;
  /** Every signature, oldest first, also those that count no more. */
  readonly signatures: readonly (ApprovalWord & { readonly at: Timestamp })[];
  /** Null while it is pending. An approval that expired was decided by nobody. */
  readonly decidedAt: Timestamp | null;
  readonly decidedBy: Actor | null;
  readonly reason: string | null;
  /** Of what the person saw whose word decided it; null where no person did. */
  readonly decidedUnder: Digest | null;
  /** Whose signatures made it a yes; empty where it is none. */
  readonly counted: readonly UserId[];
  /** Of the tool that was approved; null where none was. */
  readonly toolDigest: Digest | null;
}

export type Action =
  | { readonly state: 'none' }
  /** A reserved id that never became an action. */
  | { readonly state: 'abandoned' }
  | LivingAction;

export interface LivingAction {
  readonly state: RecordedState;
  readonly submission: Submission;
  readonly createdAt: Timestamp;
  readonly decision: Decision | null;
  /** Null where no version in shadow was asked. */
  readonly shadow: ShadowDecision | null;
  readonly decidedAt: Timestamp | null;
  /** What it was charged to budgets by its decision; empty where none bounds it. */
  readonly charges: readonly BudgetCharge[];
  readonly ready: {
    readonly class: ExecutionClass;
    readonly timeoutMs: number;
    readonly startBy: Timestamp;
    /** What the tool changes can be read back. */
    readonly hasReadBack: boolean;
  } | null;
  readonly attempts: readonly ExecutionAttempt[];
  /** Null where no person was asked. */
  readonly approval: Approval | null;
  /** Set where the agent runs the tool itself. */
  readonly edge: { readonly deadline: Timestamp } | null;
  readonly outcome: ExecutionOutcome | null;
  /** Set from the outcome on where the witness waits, or waited, for a read; why the outcome is unknown. */
  readonly readBack: { readonly reason: string | null } | null;
  /** What an attempt reported after its time and before the end, where it says more than that nobody knows: the first. */
  readonly lateReport: ExecutionOutcome | null;
  /** The newest. */
  readonly witness: WitnessVerdict | null;
  /** Revision of the last event folded. */
  readonly revision: number;
  /** Revision of the one event by which the action became `recorded`: the source of its deed. */
  readonly sealingRevision: number | null;
  /** Revision of the last event that amended the witness: the source of a deed of its own. */
  readonly amendedRevision: number | null;
}

type Known = NonNullable<unknown> | null;

/** What `doesFollow` asks of a living action: all that a fold which keeps less than this one has to keep. */
export interface FollowedAction {
  readonly state: RecordedState;
  readonly decision: Pick<Decision, 'outcome'> | null;
  readonly approval: {
    readonly status: ApprovalStatus;
    readonly terms: Pick<ApprovalTerms, 'required'>;
    readonly signatures: readonly Pick<ApprovalWord, 'by'>[];
  } | null;
  readonly ready: Known;
  readonly edge: Known;
  readonly outcome: Known;
  readonly witness: Known;
  readonly attempts: readonly Pick<ExecutionAttempt, 'claim'>[];
}

/** Whether the outcome is known and a read of what it changed is not. */
export const awaitsReadBack = ({ state, readBack }: LivingAction): boolean =>
  state === 'witnessing' && readBack !== null;

/** The execution under way, if any. */
export const currentAttempt = (action: LivingAction): ExecutionAttempt | null =>
  action.outcome ? null : (action.attempts.at(-1) ?? null);

/** When the call began: its first attempt, however many there were since. Each has its own time in its event. */
export const beganAt = ({ attempts }: LivingAction, attempt: ExecutionAttempt): Timestamp =>
  attempts[0]?.at ?? attempt.at;

/**
 * What was left of the whole call's time when an attempt was claimed, in milliseconds. Both moments are of the
 * claimer's clock. A clock that was set back between two attempts gives a call no more than its whole time.
 */
export const remainingAtClaimMs = ({ ready }: LivingAction, { deadline, at }: ExecutionAttempt): number =>
  Math.min(ready?.timeoutMs ?? 0, Math.max(0, Date.parse(deadline) - Date.parse(at)));

export type ActionStatus =
  'executed' | 'failed' | 'authorized' | 'processing' | 'pending_approval' | 'denied' | 'expired' | 'cancelled';

/** One word for what happened. An unknown outcome is `executed`, its verdict UNVERIFIABLE (rule GATE-5). */
export const statusOf = (action: LivingAction, isSealed: boolean): ActionStatus => {
  if (action.decision?.outcome === 'deny') return 'denied';
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

/** The digest that the tool must have to be sent: the one that was judged, or the one that a person saw since. */
export const sendableToolDigest = ({ submission, approval }: LivingAction): Digest | null =>
  approval?.status === 'approved' ? approval.toolDigest : submission.tool_digest;
