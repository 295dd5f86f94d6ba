import type { Digest } from '#libs/crypto';
import type { ApprovalId, CommandMetadata, Timestamp, UserId } from '../kernel/index.js';
import type {
  ApprovalTerms,
  ApprovalWord,
  BudgetCharge,
  Decision,
  EdgeReport,
  ExecutionClass,
  ExecutionOutcome,
  ShadowDecision,
  Submission,
  WitnessVerdict,
} from './action.events.js';

type Command<Type extends string, Data> = { type: Type; data: Data; metadata: CommandMetadata };

/** Who claims an execution: the process that beats in the liveness table, and a random token of this claim. */
export interface Claimant {
  readonly executor: string;
  readonly claim: string;
}

/** What an allowed call is to be: run by the service, or by the agent itself at the edge. */
export interface ExecutionTerms {
  readonly class: ExecutionClass;
  readonly timeoutMs: number;
  readonly startBy: Timestamp;
  /** Set where the tool confirms by a read what it wrote. */
  readonly hasReadBack?: boolean;
}

/** What a read said of the write before it. */
export interface ReadBackWord {
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
        /** Set where a version in shadow was asked. */
        shadow?: ShadowDecision | null;
        /** Set when the decision is to allow, in gateway mode. */
        execution: ExecutionTerms | null;
        /** Set when the decision is to allow, in proxy mode. */
        edge?: EdgeTerms;
        /** Set when the decision is to ask a person. */
        approval?: ApprovalTerms;
        /** What it holds of budgets, where any bounds it. */
        charges?: readonly BudgetCharge[];
        /** Set when the accepting process executes itself: accept and claim are one append. */
        claimant: Claimant | null;
      }
    >
  /**
   * `supersedes` names the claim that this one follows: null for the first attempt, the claimer's own claim for a
   * retry, a lost executor's for a takeover. Without it a job that is delivered twice could start a second attempt
   * beside a living first. `mayHaveRun`: the claimer cannot say that the attempt it follows had no effect.
   */
  | Command<'ClaimExecution', Claimant & { supersedes: string | null; mayHaveRun: boolean }>
  /**
   * `withdrawn`: the same executor's claim of the next attempt. That claim had no clear answer, and nothing was or will
   * be sent under it. Whether or not it came to stand in the log, the outcome is that of the attempt before it.
   */
  | Command<'RecordOutcome', { claim: string; outcome: ExecutionOutcome; withdrawn: string | null }>
  /**
   * A sweeper saw the executor silent, or the deadline pass: by its own monotonic clock, for the time of day may jump.
   */
  | Command<'GiveUpExecution', { claim: string; isExecutorSilent: boolean; isPastDeadline: boolean }>
  | Command<'ExpireStart', Record<string, never>>
  | Command<'RecordReadBack', ReadBackWord>
  /** A person asked for another read of a recorded action. */
  | Command<'AmendWitness', ReadBackWord>
  /**
   * `stillCounting`: who signed before and still counts: eligible now, under a context that still holds. `required`: how
   * many the rule asks for by now, which is never fewer than when people were asked. `run`: what the action becomes when
   * this signature is the last that was needed.
   */
  | Command<
      'Countersign',
      {
        approval: ApprovalId;
        word: ApprovalWord;
        stillCounting: readonly UserId[];
        required: number;
        toolDigest: Digest | null;
        run: { execution: ExecutionTerms } | { edge: EdgeTerms };
      }
    >
  | Command<'DenyApproval', { approval: ApprovalId; word: ApprovalWord }>
  | Command<'ExpireApproval', Record<string, never>>
  /** By whom is the metadata's actor. */
  | Command<'CancelAction', Record<string, never>>
  | Command<'ReportEdge', { report: EdgeReport }>
  | Command<'GiveUpEdge', Record<string, never>>
  | Command<'AbandonSubmission', { action: Submission['action'] }>;
