import type { CommandMetadata, Timestamp } from '../kernel/index.js';
import type { Decision, ExecutionClass, ExecutionOutcome, Submission } from './action.events.js';

type Command<Type extends string, Data> = { type: Type; data: Data; metadata: CommandMetadata };

/** Who claims an execution: the process that beats in the liveness table, and a random token of this claim. */
export interface Claimant {
  readonly executor: string;
  readonly claim: string;
}

export type ActionCommand =
  | Command<
      'SubmitAction',
      {
        submission: Submission;
        decision: Decision;
        /** Set when the decision is to allow. */
        execution: { class: ExecutionClass; timeoutMs: number; startBy: Timestamp } | null;
        /** Set when the accepting process executes itself: accept and claim are one append. */
        claimant: Claimant | null;
      }
    >
  /**
   * `supersedes` names the claim it follows: null for the first, one's own for a retry, a lost executor's for a takeover.
   * Without it a job delivered twice could start a second attempt beside a living first. `mayHaveRun`: the claimer cannot
   * say that the attempt it follows had no effect.
   */
  | Command<'ClaimExecution', Claimant & { supersedes: string | null; mayHaveRun: boolean }>
  /**
   * `withdrawn`: a claim of the next attempt by the same executor, which had no clear answer and under which nothing was
   * or will be sent. Whether or not it came to stand in the log, the outcome is that of the attempt before it.
   */
  | Command<'RecordOutcome', { claim: string; outcome: ExecutionOutcome; withdrawn: string | null }>
  /**
   * A sweeper saw the executor silent, or the deadline pass: by its own monotonic clock, for the time of day may jump.
   */
  | Command<'GiveUpExecution', { claim: string; isExecutorSilent: boolean; isPastDeadline: boolean }>
  | Command<'ExpireStart', Record<string, never>>
  | Command<'AbandonSubmission', { action: Submission['action'] }>;
