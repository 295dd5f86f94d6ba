import type { CommittedValue, Digest } from '#libs/crypto';
import type { CallCost, CommittedTransaction, StatementSaid } from '../../connectors/index.js';
import type {
  ActionId,
  Actor,
  AgentId,
  ApprovalId,
  CallMode,
  ConnectorId,
  DecisionOutcome,
  ErrorCode,
  ExecutionStatus,
  KeyId,
  OrgId,
  PolicyId,
  PolicyVersionId,
  SideEffect,
  Timestamp,
  TraceContext,
  UserId,
  Verdict,
  WitnessLevel,
} from '../../kernel/index.js';
import type { Postcondition, SeenTransaction } from './seen-transaction.js';

export type { ExecutionStatus, SideEffect };
export type ActionMode = CallMode;

/**
 * `once`: sent at most one time, even after a crash. `repeatable`: sent up to three times, each time with the same id
 * (rule EXEC-2).
 */
export type ExecutionClass = 'once' | 'repeatable';

export type DecisionSource = 'rule' | 'default' | 'budget' | 'stop' | 'builtin';

/** The gate's answer to a call. `code` and `message` are null if the call is allowed. */
export interface Decision {
  readonly outcome: DecisionOutcome;
  readonly code: ErrorCode | null;
  readonly source: DecisionSource;
  readonly rule_id: string | null;
  readonly reason: string | null;
  /** The sentence that the agent is shown, word for word. */
  readonly message: string | null;
  readonly policy: PolicyId | null;
  readonly policy_version: PolicyVersionId | null;
  /** The lowest witness level that the rule accepts. Absent if the rule accepts the tool's own word (`L0`). */
  readonly verify?: 'L1' | 'L2';
  /** When the next period of the budget that refused the call begins. Absent if no budget refused it. */
  readonly retry_at?: Timestamp;
}

/** What an action is charged to one bound of a budget, from its decision on. */
export interface BudgetCharge {
  /**
   * `<policy>/<id of the budget>` (the same for every version of the policy), `<agent>/calls_per_day` or
   * `<agent>/spend_per_day`.
   */
  readonly budget: string;
  /** Label of the period, in the organization's time zone at the time of the decision: `day:2026-10-01`. */
  readonly period: string;
  /** 1 if the bound counts calls, 0 if it counts money. */
  readonly calls: number;
  /** The expected cost in the smallest unit of the currency. Null if the bound counts calls. */
  readonly amount: number | null;
  readonly currency: string | null;
  /** The limit of the bound at the time of the decision: a number of calls, or an amount in the smallest unit. */
  readonly limit: number;
  readonly starts_at: Timestamp;
  readonly resets_at: Timestamp;
}

/**
 * What the policy version in the shadow slot would have decided. It has no effect on the call and is in no deed (rule
 * POLICY-7).
 */
export interface ShadowDecision {
  /** Null if the version gave no answer: it was not loaded yet, took too long, or failed. */
  readonly outcome: Decision['outcome'] | null;
  readonly code: ErrorCode | null;
  readonly rule_id: string | null;
  /** The reason of the decision. If `outcome` is null: `loading`, `time limit` or `fault`. */
  readonly reason: string;
  readonly policy: PolicyId;
  readonly policy_version: PolicyVersionId;
  /** Whether `outcome` differs from the outcome of the enforced policy. False if `outcome` is null. */
  readonly differs: boolean;
}

/** The signed intent that came with a call: the key that signed it (`kid`) and the nonce that the call consumed. */
export interface SubmittedIntent {
  readonly kid: string;
  readonly nonce: string;
  /** When the intent expires, in Unix milliseconds. */
  readonly exp: number;
  /** The value of the header `Service-Intent`: intent and signature. Absent in events of versions that kept its hash alone. */
  readonly header?: string;
}

/** The way a call came in, other than `POST /v1/actions`. */
export type SubmissionOrigin = 'mcp';

/** What the agent asked for. The event holds digests; the arguments themselves are in the payload store. */
export interface Submission {
  readonly action: ActionId;
  readonly org: OrgId;
  readonly agent: AgentId;
  readonly agent_name: string;
  readonly key: KeyId;
  readonly livemode: boolean;
  /** The qualified name `<connector>.<tool>`, cut to its first 200 bytes. */
  readonly tool: string;
  readonly tool_truncated: boolean;
  readonly connector: ConnectorId | null;
  /** Digest of the tool's definition at the time of submission. Null if no such tool exists. */
  readonly tool_digest: Digest | null;
  readonly side_effect: SideEffect;
  readonly mode: ActionMode;
  readonly args_digest: Digest;
  /** Digest over the tool's name, the arguments in RFC 8785 form, the mode and the tool digest (rule GATE-8). */
  readonly request_digest: Digest;
  /**
   * Digest over what the request digest covers, on-behalf-of and session. Used to compare a request with an earlier one
   * under the same Idempotency-Key.
   */
  readonly comparison_digest: Digest;
  /** Keyed hash of the Idempotency-Key; the key itself is not stored. */
  readonly idempotency_key_hash: string | null;
  readonly on_behalf_of: string | null;
  readonly session: string | null;
  readonly intent_signed: boolean;
  readonly intent_hash: Digest | null;
  /**
   * Absent if the call had no signed intent, and in events written by versions of the service that did not check
   * intents.
   */
  readonly intent?: SubmittedIntent;
  /** Absent if the call came through `POST /v1/actions`. In no digest. */
  readonly origin?: SubmissionOrigin;
  /** From the header `traceparent`; absent if the header was missing or invalid. In no digest. */
  readonly trace?: TraceContext;
  /**
   * Digest of the payload `policy_input`: the arguments, the request facts and everything else that the policy judged.
   */
  readonly input_digest: Digest;
  /** Absent in events of versions that sealed plain digests. */
  readonly commitments?: SubmissionCommitments;
}

/**
 * What the deed holds in place of the digests: commitments under salts that lie with the payload `policy_input`
 * (docs/deed-format.md).
 */
export interface SubmissionCommitments {
  readonly args: Digest;
  readonly input: Digest;
  readonly request: Digest;
}

/**
 * What deeds hold in place of the digests that the same event names; absent in events of versions that sealed plain
 * digests. The salt of a payload lies with it, that of what stands in the event itself in its metadata.
 */
export interface Commits<Value extends CommittedValue> {
  readonly commitments?: Readonly<Partial<Record<Value, Digest>>>;
}

export interface WitnessVerdict extends Commits<'evidence'> {
  readonly level: WitnessLevel;
  readonly verdict: Verdict;
  /**
   * `reported`: the tool's own answer. `edge_reported`: the report of the agent that ran the tool. `read_back`: a read
   * of what the tool changed. `change_log`: the system of record's own change log. `none`: there is no evidence.
   */
  readonly method: 'reported' | 'edge_reported' | 'read_back' | 'change_log' | 'none';
  readonly reasons: readonly string[];
  readonly summary: string;
  /** Digest of the payload `observation`, or of the late report's result if that report is the evidence. */
  readonly evidence_digest: Digest | null;
  readonly diff_rows: number;
}

/**
 * Why a witness is amended. `late_report`: an executor reported its outcome late. `late_read`: a read-back finished
 * late. `late_witness`: the change log spoke after the action was recorded. `asked`: a person asked for another read.
 */
export type AmendmentCause = 'late_report' | 'late_read' | 'late_witness' | 'asked';

export interface ExecutionOutcome extends Commits<'message' | 'result'> {
  readonly status: ExecutionStatus;
  /** A code of the error catalogue. If an agent ran the tool at the edge: the code that the agent reported. */
  readonly error_code: string | null;
  /** A sentence of this service. What the upstream answered is in the result payload. */
  readonly error_message: string | null;
  readonly result_digest: Digest | null;
  readonly started_at: Timestamp | null;
  readonly finished_at: Timestamp;
  readonly latency_ms: number | null;
  /** The money spent. Absent if the tool's answer does not say. */
  readonly cost?: CallCost;
}

/** What an action waits for: `required` signatures by people that `approvers` names, before `expires_at`. */
export interface ApprovalTerms extends Commits<'context'> {
  readonly approval: ApprovalId;
  /** The rule that requires the approval; null if it was the policy's default. */
  readonly rule_id: string | null;
  /** As written in the rule: `role:<role>` or the id of a person. */
  readonly approvers: readonly string[];
  readonly required: number;
  /** Digest of what approvers are shown at submission (payload `approval_context`). */
  readonly context_digest: Digest;
  readonly expires_at: Timestamp;
  /** Each who approves signs with a passkey. Absent where nobody has to. */
  readonly signed?: true;
}

/** The channel by which a person approved or denied. */
export type ApprovalVia = 'console' | 'mail' | 'chat';

/** One person's yes or no to an approval, with the digest of the context that the person was shown. */
export interface ApproverAnswer extends Commits<'assertion' | 'context' | 'reason'> {
  readonly by: UserId;
  readonly via: ApprovalVia;
  readonly context_digest: Digest;
  readonly reason: string | null;
  /** Digest of the payload `assertion`: what the person's passkey signed. Absent where the person sent none. */
  readonly assertion_digest?: Digest;
}

/** What an agent reported about the tool that it ran itself (rule GATE-17). */
export interface EdgeReport extends Commits<'message' | 'result'> {
  readonly status: ExecutionStatus;
  readonly started_at: Timestamp;
  readonly finished_at: Timestamp;
  readonly result_digest: Digest | null;
  /**
   * Whether the report contained the result, which is then a payload. Otherwise `result_digest` is all that was
   * reported.
   */
  readonly has_result: boolean;
  readonly error_code: string | null;
  readonly error_message: string | null;
}

/** What the change log shows of one attempt. */
export interface ChangeLogWord extends Commits<'evidence'> {
  readonly attempt: number;
  readonly seen: SeenTransaction;
  readonly postcondition: Postcondition;
  /** Digest of the payload `observation` that holds the changed rows. */
  readonly evidence_digest: Digest;
}

/** Stream `action-<act_id>`. */
export type ActionEvent =
  | { type: 'ActionSubmitted'; data: Submission & { at: Timestamp } }
  | {
      type: 'ActionDecided';
      /**
       * `shadow`: absent if the shadow slot is empty, or if the gate refused the call before it asked a policy.
       * `charges`: what the action is charged to budgets. Absent if no budget bounds the call, or the call was refused.
       */
      data: {
        action: ActionId;
        decision: Decision;
        shadow?: ShadowDecision;
        charges?: readonly BudgetCharge[];
        at: Timestamp;
      };
    }
  | {
      type: 'ExecutionReady';
      /**
       * If no executor claims the call by `start_by`, it fails and nothing is sent (rule EXEC-6).
       * `org`, `connector`: present only if an approval made the call ready. While the call waited for approval its row
       * among the open executions was closed; these fields let the row open again from this event alone.
       * `read_back`: present if the tool has a read-back. `change_log`: present if a change log witnesses the tool, with
       * how long it is waited for.
       */
      data: {
        action: ActionId;
        class: ExecutionClass;
        timeout_ms: number;
        start_by: Timestamp;
        org?: OrgId;
        connector?: ConnectorId | null;
        read_back?: true;
        change_log?: { timeout_ms: number };
        at: Timestamp;
      };
    }
  | { type: 'ApprovalRequested'; data: ApprovalTerms & { action: ActionId; at: Timestamp } }
  | {
      type: 'ApprovalCountersigned';
      data: ApproverAnswer & { action: ActionId; approval: ApprovalId; at: Timestamp };
    }
  | {
      type: 'ApprovalDecided';
      /**
       * `tool_digest`: digest of the tool that was approved; the call runs only if the tool still has this digest. Null
       * if denied.
       * `counted`: the people whose signatures made up the approval; all of them were still eligible at that time.
       * Absent if denied.
       */
      data: ApproverAnswer & {
        action: ActionId;
        approval: ApprovalId;
        outcome: 'approved' | 'denied';
        tool_digest: Digest | null;
        counted?: readonly UserId[];
        at: Timestamp;
      };
    }
  | { type: 'ApprovalExpired'; data: { action: ActionId; approval: ApprovalId; at: Timestamp } }
  | { type: 'ActionCancelled'; data: { action: ActionId; approval: ApprovalId; by: Actor; at: Timestamp } }
  | {
      type: 'EdgeAuthorized';
      /** The agent may run the tool itself, and must report the result before `deadline`. */
      data: { action: ActionId; deadline: Timestamp; at: Timestamp };
    }
  | { type: 'EdgeReported'; data: EdgeReport & { action: ActionId; at: Timestamp } }
  | { type: 'EdgeLost'; data: { action: ActionId; at: Timestamp } }
  | {
      type: 'ExecutionStarted';
      /** An executor's claim of the call. Nothing is sent before this event is in the log. */
      data: {
        action: ActionId;
        attempt: number;
        class: ExecutionClass;
        executor: string;
        /** Random, so that the claims of two workers are never the same event. */
        claim: string;
        /** Whether an attempt before this one may have had its effect. */
        may_have_run: boolean;
        /** The deadline of attempt 1, in every attempt. */
        deadline: Timestamp;
        at: Timestamp;
      };
    }
  | {
      type: 'ExecutionProgress';
      /**
       * What an attempt is about to do. In the log before anything is changed: an attempt without it has changed nothing.
       */
      data: { action: ActionId; attempt: number; claim: string; said: StatementSaid; at: Timestamp };
    }
  | {
      type: 'ExecutionFinished';
      /**
       * `read_back`: present if the witness waits for a read-back. Its `reason` says why the outcome is unknown if
       * `error_code` does not. `change_log`: the same for a witness that waits for the change log, until the time of day
       * `until`. `transaction`: what the call committed, as far as the executor knows.
       */
      data: ExecutionOutcome & {
        action: ActionId;
        attempt: number;
        claim: string | null;
        read_back?: { reason: string | null };
        change_log?: { reason: string | null; until: Timestamp };
        transaction?: CommittedTransaction;
        at: Timestamp;
      };
    }
  | {
      type: 'WitnessReported';
      /** What the change log shows of an attempt whose outcome is not recorded yet. The outcome's append judges it. */
      data: ChangeLogWord & { action: ActionId; at: Timestamp };
    }
  | { type: 'ActionWitnessed'; data: WitnessVerdict & { action: ActionId; at: Timestamp } }
  | {
      type: 'WitnessAmended';
      /**
       * A later verdict about a recorded action. It gets a deed of its own; the deed with the first verdict stays as it
       * is.
       */
      data: WitnessVerdict & { action: ActionId; cause: AmendmentCause; at: Timestamp };
    }
  | {
      type: 'LateReport';
      /** An outcome that arrived after another claim or outcome. Kept as evidence; it changes no state. */
      data: ExecutionOutcome & { action: ActionId; attempt: number; claim: string; at: Timestamp };
    }
  | { type: 'SubmissionAbandoned'; data: { action: ActionId; at: Timestamp } };
