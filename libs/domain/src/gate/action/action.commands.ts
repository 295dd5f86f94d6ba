import type { Digest } from '#libs/crypto';
import type { CommittedTransaction, StatementSaid } from '../../connectors/index.js';
import type { ApprovalId, CommandMetadata, Timestamp, UserId } from '../../kernel/index.js';
import type {
  ApprovalTerms,
  ApproverAnswer,
  BudgetCharge,
  ChangeLogWord,
  Commits,
  Decision,
  EdgeReport,
  ExecutionClass,
  ExecutionOutcome,
  ShadowDecision,
  Submission,
  WitnessVerdict,
} from './action.events.js';
import type { ChangeLogReason } from './change-log-verdict.js';

type Command<Type extends string, Data> = { type: Type; data: Data; metadata: CommandMetadata };

/** Who claims an execution: the process that beats in the liveness table, and a random token of this claim. */
export interface Claimant {
  readonly executor: string;
  readonly claim: string;
}

/** How the service is to run an allowed call. */
export interface ExecutionTerms {
  readonly class: ExecutionClass;
  readonly timeoutMs: number;
  readonly startBy: Timestamp;
  /** Set if the tool has a read-back, which reads what the tool wrote. */
  readonly hasReadBack?: boolean;
  /** Set if a change log witnesses the tool: how long it is waited for. */
  readonly changeLogTimeoutMs?: number;
}

/** Why the change log is not waited for any longer. */
export type SilenceReason = Extract<
  ChangeLogReason,
  'timeout' | 'slot_lagging' | 'slot_invalidated' | 'decoder_down' | 'log_restored'
>;

/** An outcome, with the transaction that the call committed as far as it is known. */
export interface FoundOutcome {
  readonly outcome: ExecutionOutcome;
  readonly transaction?: CommittedTransaction;
}

/** What a read-back found out about the write before it. */
export interface ReadBackResult extends Commits<'evidence'> {
  readonly verdict: WitnessVerdict['verdict'];
  readonly reasons: readonly string[];
  readonly evidenceDigest: Digest | null;
}

export interface EdgeTerms {
  readonly deadline: Timestamp;
}

export type ActionCommand =
  | Command<
      'SubmitAction',
      {
        submission: Submission;
        decision: Decision;
        /** Set if a policy version in the shadow slot was asked. */
        shadow?: ShadowDecision | null;
        /** Set if the decision is `allow` and the call is in gateway mode. */
        execution: ExecutionTerms | null;
        /** Set if the decision is `allow` and the call is in proxy mode. */
        edge?: EdgeTerms;
        /** Set if the decision is `require_approval`. */
        approval?: ApprovalTerms;
        /** What the call is charged to budgets. Absent if no budget bounds the call. */
        charges?: readonly BudgetCharge[];
        /** Set if the accepting process also runs the call: then the claim is in the same append as the submission. */
        claimant: Claimant | null;
      }
    >
  /**
   * `supersedes`: the claim that this one replaces. Null for the first attempt; for a retry, the claimer's own previous
   * claim; for a takeover, the claim of the executor that fell silent. Without this check, a job that is delivered
   * twice could start a second attempt while the first is still running.
   * `mayHaveRun`: whether the previous attempt may have had its effect.
   */
  | Command<'ClaimExecution', Claimant & { supersedes: string | null; mayHaveRun: boolean }>
  /**
   * `withdrawn`: a claim of the next attempt that the same executor tried to append without a clear answer from the
   * store. Nothing was or will be sent under that claim. So the outcome of the attempt before it is recorded, whether
   * or not the claim is in the log.
   */
  | Command<'RecordOutcome', FoundOutcome & { claim: string; withdrawn: string | null }>
  /** What the attempt is about to do; before it has changed anything. */
  | Command<'RecordProgress', { claim: string; said: StatementSaid }>
  /**
   * The sweeper has measured the executor's silence or the deadline by its own monotonic clock, because the time of day
   * may jump.
   * `found`: what the system itself says became of the attempt; null if it cannot say, or was not asked.
   */
  | Command<
      'GiveUpExecution',
      { claim: string; isExecutorSilent: boolean; isPastDeadline: boolean; found?: FoundOutcome | null }
    >
  | Command<'ExpireStart', Record<string, never>>
  | Command<'RecordReadBack', ReadBackResult>
  /** The change log shows the transaction of an attempt, whether or not the outcome is recorded yet. */
  | Command<'ReportWitness', ChangeLogWord>
  /** The change log has passed the place where the transaction must be, and it is not there. */
  | Command<'RecordAbsence', { reason: 'transaction_missing' }>
  /** Nobody waits for the change log any longer. */
  | Command<'GiveUpWitness', { reason: SilenceReason }>
  /** A person asked for another read of a recorded action. */
  | Command<'AmendWitness', ReadBackResult>
  /**
   * `stillCounting`: earlier signers whose signatures still count, because the signer is still eligible and the context
   * they signed still holds.
   * `required`: how many signatures the rule asks for now; never fewer than when the approval was requested.
   * `run`: how the call is to run if this signature is the last one needed.
   */
  | Command<
      'Countersign',
      {
        approval: ApprovalId;
        answer: ApproverAnswer;
        stillCounting: readonly UserId[];
        required: number;
        toolDigest: Digest | null;
        run: { execution: ExecutionTerms } | { edge: EdgeTerms };
      }
    >
  | Command<'DenyApproval', { approval: ApprovalId; answer: ApproverAnswer }>
  | Command<'ExpireApproval', Record<string, never>>
  /** The metadata's actor is the person or agent who cancels. */
  | Command<'CancelAction', Record<string, never>>
  | Command<'ReportEdge', { report: EdgeReport }>
  | Command<'GiveUpEdge', Record<string, never>>
  | Command<'AbandonSubmission', { action: Submission['action'] }>;
