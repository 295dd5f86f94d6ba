import type { Timestamp } from '../kernel/index.js';
import type {
  ActionEvent,
  Decision,
  ExecutionClass,
  ExecutionOutcome,
  Submission,
  WitnessVerdict,
} from './action.events.js';

type DataOf<Type extends ActionEvent['type']> = Extract<ActionEvent, { type: Type }>['data'];

export type ExecutionAttempt = DataOf<'ExecutionStarted'>;

/** Where a live action stands. `sealed` is the ledger's word, not the stream's (`LedgerTail.sealedUpTo`). */
export type RecordedState = 'executing' | 'witnessing' | 'recorded';

export type Action =
  | { readonly state: 'none' }
  /** A reserved id that never became an action (architecture, 'Rows beside the log'). */
  | { readonly state: 'abandoned' }
  | LivingAction;

export interface LivingAction {
  readonly state: RecordedState;
  readonly submission: Submission;
  readonly createdAt: Timestamp;
  readonly decision: Decision | null;
  readonly decidedAt: Timestamp | null;
  readonly ready: { readonly class: ExecutionClass; readonly timeoutMs: number; readonly startBy: Timestamp } | null;
  readonly attempts: readonly ExecutionAttempt[];
  readonly outcome: ExecutionOutcome | null;
  readonly witness: WitnessVerdict | null;
  /** Revision of the last event folded. */
  readonly revision: number;
  /** Revision of the one event by which the action became `recorded`: the source of its deed. */
  readonly sealingRevision: number | null;
}

/** The execution under way, if any. */
export const currentAttempt = (action: LivingAction): ExecutionAttempt | null =>
  action.outcome ? null : (action.attempts.at(-1) ?? null);

/**
 * What was left of the whole call's time when an attempt was claimed, in milliseconds. Both moments are of the claimer's
 * clock; one that was set back between two attempts gives a call no more than its whole time.
 */
export const remainingAtClaimMs = ({ ready }: LivingAction, { deadline, at }: ExecutionAttempt): number =>
  Math.min(ready?.timeoutMs ?? 0, Math.max(0, Date.parse(deadline) - Date.parse(at)));

export type ActionStatus =
  'executed' | 'failed' | 'authorized' | 'processing' | 'pending_approval' | 'denied' | 'expired' | 'cancelled';

/** One word for what happened (document 1, Status values). An unknown outcome is `executed`, its verdict UNVERIFIABLE (ruling 1). */
export const statusOf = (action: LivingAction, isSealed: boolean): ActionStatus => {
  if (action.decision?.outcome === 'deny') return 'denied';
  if (!isSealed || !action.outcome) return 'processing';
  return action.outcome.status === 'failed' ? 'failed' : 'executed';
};
