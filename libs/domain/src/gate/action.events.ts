import type { Digest } from '#libs/crypto';
import type { CallCost } from '../connectors/index.js';
import type {
  ActionId,
  Actor,
  AgentId,
  ApprovalId,
  ConnectorId,
  ErrorCode,
  KeyId,
  OrgId,
  PolicyId,
  PolicyVersionId,
  Timestamp,
  TraceContext,
  UserId,
} from '../kernel/index.js';

export type ActionMode = 'gateway' | 'proxy';
export type SideEffect = 'read' | 'write' | 'destructive' | 'unknown';

/**
 * `once`: sent at most one time, whatever happens. `repeatable`: up to three times, each with the same id
 * (rule EXEC-2).
 */
export type ExecutionClass = 'once' | 'repeatable';

export type ExecutionStatus = 'succeeded' | 'failed' | 'unknown';

export type DecisionSource = 'rule' | 'default' | 'budget' | 'stop' | 'builtin';

/** The gate's answer. Null code and message when allowed. */
export interface Decision {
  readonly outcome: 'allow' | 'deny' | 'require_approval';
  readonly code: ErrorCode | null;
  readonly source: DecisionSource;
  readonly rule_id: string | null;
  readonly reason: string | null;
  /** The sentence the agent sees, verbatim. */
  readonly message: string | null;
  readonly policy: PolicyId | null;
  readonly policy_version: PolicyVersionId | null;
  /** The least level of witness that the rule asks for. Absent where the tool's own word is enough. */
  readonly verify?: 'L1';
  /** When the budget that refused the call begins anew; absent where none did. */
  readonly retry_at?: Timestamp;
}

/** What a call holds of one bound of a budget, from its decision on. */
export interface BudgetCharge {
  /** `<policy>/<id of the budget>`, in every version of the policy; `<agent>/calls_per_day`; `<agent>/spend_per_day`. */
  readonly budget: string;
  /** In the organization's time zone as it was then: `day:2026-10-01`. */
  readonly period: string;
  /** 1 where calls are bounded, and 0 where money is. */
  readonly calls: number;
  /** As foreseen, in the smallest unit of the currency; null where calls are bounded. */
  readonly amount: number | null;
  readonly currency: string | null;
  /** As it was then: calls, or money. */
  readonly limit: number;
  readonly starts_at: Timestamp;
  readonly resets_at: Timestamp;
}

/**
 * What the version in the shadow slot would have said of a call. It decides nothing and stands in no deed
 * (rule POLICY-7).
 */
export interface ShadowDecision {
  /** Null where it said nothing: it was not loaded yet, it took too long, or it failed. */
  readonly outcome: Decision['outcome'] | null;
  readonly code: ErrorCode | null;
  readonly rule_id: string | null;
  /** As a decision's; `loading`, `time limit` or `fault` where the outcome is null. */
  readonly reason: string;
  readonly policy: PolicyId;
  readonly policy_version: PolicyVersionId;
  /** Whether its outcome is another than the enforced policy's. False where it has none. */
  readonly differs: boolean;
}

/** Of the signed intent that a call carried: who signed, and the nonce that the call consumed. */
export interface SubmittedIntent {
  readonly kid: string;
  readonly nonce: string;
  /** Unix milliseconds. */
  readonly exp: number;
}

/** What the agent asked for. Arguments are in the payload store; their digest is here. */
export interface Submission {
  readonly action: ActionId;
  readonly org: OrgId;
  readonly agent: AgentId;
  readonly agent_name: string;
  readonly key: KeyId;
  readonly livemode: boolean;
  /** The qualified name, at most its first 200 bytes. */
  readonly tool: string;
  readonly tool_truncated: boolean;
  readonly connector: ConnectorId | null;
  /** Of the tool's definition at that moment; null when no such tool exists. */
  readonly tool_digest: Digest | null;
  readonly side_effect: SideEffect;
  readonly mode: ActionMode;
  readonly args_digest: Digest;
  /** Over tool, arguments in RFC 8785 form, mode and tool digest (rule GATE-8). */
  readonly request_digest: Digest;
  /** The request digest with on-behalf-of and session: what a repeated Idempotency-Key is compared by. */
  readonly comparison_digest: Digest;
  /** Keyed hash; the key itself is the client's. */
  readonly idempotency_key_hash: string | null;
  readonly on_behalf_of: string | null;
  readonly session: string | null;
  readonly intent_signed: boolean;
  readonly intent_hash: Digest | null;
  /** Absent where none was signed, and in events of versions that checked none. */
  readonly intent?: SubmittedIntent;
  /** Of the header `traceparent`; absent where it told none. No digest is taken over it. */
  readonly trace?: TraceContext;
  /** Of the payload `policy_input`: arguments, facts and all else that was judged. */
  readonly input_digest: Digest;
}

export interface WitnessVerdict {
  readonly level: 'L0' | 'L1' | 'L2';
  readonly verdict: 'VERIFIED' | 'MISMATCH' | 'UNVERIFIABLE';
  /** `reported`: the tool's own word. `read_back`: a read of what it changed. `none`: nobody could say. */
  readonly method: 'reported' | 'edge_reported' | 'read_back' | 'none';
  readonly reasons: readonly string[];
  readonly summary: string;
  /** Of the payload `observation`; of the late report's result where that is the evidence. */
  readonly evidence_digest: Digest | null;
  readonly diff_rows: number;
}

/** `late_report`: an executor's word that came late. `late_read`: a read that came late. `asked`: a person asked again. */
export type AmendmentCause = 'late_report' | 'late_read' | 'asked';

export interface ExecutionOutcome {
  readonly status: ExecutionStatus;
  /** One of the catalogue; where an edge ran the tool, that edge's own word. */
  readonly error_code: string | null;
  /** Our own words; what the upstream said is in the result payload. */
  readonly error_message: string | null;
  readonly result_digest: Digest | null;
  readonly started_at: Timestamp | null;
  readonly finished_at: Timestamp;
  readonly latency_ms: number | null;
  /** What was spent, where the tool said so. */
  readonly cost?: CallCost;
}

/** What an action waits for: so many signatures of these approvers, by then. */
export interface ApprovalTerms {
  readonly approval: ApprovalId;
  /** The rule that asked; null where the policy's default did. */
  readonly rule_id: string | null;
  /** As the rule names them: `role:<role>` or the id of a person. */
  readonly approvers: readonly string[];
  readonly required: number;
  /** Of what an approver is shown at submission (payload `approval_context`). */
  readonly context_digest: Digest;
  readonly expires_at: Timestamp;
}

/** Where a person said yes or no. */
export type ApprovalVia = 'console' | 'mail' | 'chat';

/** One person's word about an approval, under what was shown to them. */
export interface ApprovalWord {
  readonly by: UserId;
  readonly via: ApprovalVia;
  readonly context_digest: Digest;
  readonly reason: string | null;
}

/** What an edge said of the tool that it ran itself (rule GATE-17). */
export interface EdgeReport {
  readonly status: ExecutionStatus;
  readonly started_at: Timestamp;
  readonly finished_at: Timestamp;
  readonly result_digest: Digest | null;
  /** Whether the result itself was reported and is a payload. An edge may keep it, and report its digest alone. */
  readonly has_result: boolean;
  readonly error_code: string | null;
  readonly error_message: string | null;
}

/** Stream `action-<act_id>`. */
export type ActionEvent =
  | { type: 'ActionSubmitted'; data: Submission & { at: Timestamp } }
  | {
      type: 'ActionDecided';
      /**
       * `shadow`: absent where no version runs in shadow, and where the gate itself refused before any policy was asked.
       * `charges`: what it holds of budgets; absent where none bounds it, or it was refused.
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
       * Not claimed by `start_by`: failed, nothing sent (rule EXEC-6). `org` and `connector` stand in one that an
       * approval made ready: the execution was closed while it waited, and opens again by this event. `read_back`: what the
       * tool changes can be read back, and is.
       */
      data: {
        action: ActionId;
        class: ExecutionClass;
        timeout_ms: number;
        start_by: Timestamp;
        org?: OrgId;
        connector?: ConnectorId | null;
        read_back?: true;
        at: Timestamp;
      };
    }
  | { type: 'ApprovalRequested'; data: ApprovalTerms & { action: ActionId; at: Timestamp } }
  | {
      type: 'ApprovalCountersigned';
      data: ApprovalWord & { action: ActionId; approval: ApprovalId; at: Timestamp };
    }
  | {
      type: 'ApprovalDecided';
      /**
       * `tool_digest`: of the tool that the last signature was given for; the call runs under it alone. Null when denied.
       * `counted`: whose signatures made it a yes, each of a person who could still give it. Absent when denied.
       */
      data: ApprovalWord & {
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
      /** The agent may run the tool itself, and reports by then. */
      data: { action: ActionId; deadline: Timestamp; at: Timestamp };
    }
  | { type: 'EdgeReported'; data: EdgeReport & { action: ActionId; at: Timestamp } }
  | { type: 'EdgeLost'; data: { action: ActionId; at: Timestamp } }
  | {
      type: 'ExecutionStarted';
      /** The claim and the send barrier in one: no byte leaves before this is in the log. */
      data: {
        action: ActionId;
        attempt: number;
        class: ExecutionClass;
        executor: string;
        /** Random, so that two workers' claims of one step are never the same event. */
        claim: string;
        /** Whether an attempt before this one may have had its effect. */
        may_have_run: boolean;
        /** The deadline of attempt 1, whatever the attempt. */
        deadline: Timestamp;
        at: Timestamp;
      };
    }
  | {
      type: 'ExecutionFinished';
      /** `read_back`: the witness waits for a read, and why the outcome is unknown where its code does not say. */
      data: ExecutionOutcome & {
        action: ActionId;
        attempt: number;
        claim: string | null;
        read_back?: { reason: string | null };
        at: Timestamp;
      };
    }
  | { type: 'ActionWitnessed'; data: WitnessVerdict & { action: ActionId; at: Timestamp } }
  | {
      type: 'WitnessAmended';
      /** A later verdict about a recorded action, with a deed of its own. The first one stands in its deed for ever. */
      data: WitnessVerdict & { action: ActionId; cause: AmendmentCause; at: Timestamp };
    }
  | {
      type: 'LateReport';
      /** An outcome that came after another claim or outcome. Evidence; changes no state. */
      data: ExecutionOutcome & { action: ActionId; attempt: number; claim: string; at: Timestamp };
    }
  | { type: 'SubmissionAbandoned'; data: { action: ActionId; at: Timestamp } };
