import type { Digest } from '#libs/crypto';
import type {
  ActionId,
  AgentId,
  ConnectorId,
  ErrorCode,
  KeyId,
  OrgId,
  PolicyId,
  PolicyVersionId,
  Timestamp,
} from '../kernel/index.js';

export type ActionMode = 'gateway' | 'proxy';
export type SideEffect = 'read' | 'write' | 'destructive' | 'unknown';

/** `once`: sent at most one time, whatever happens. `repeatable`: up to three times, each with the same id (document 3, Retries). */
export type ExecutionClass = 'once' | 'repeatable';

export type ExecutionStatus = 'succeeded' | 'failed' | 'unknown';

export type DecisionSource = 'rule' | 'default' | 'budget' | 'stop' | 'builtin';

/** The gate's answer. Null code and message when allowed (document 1, Action). */
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
  /** Document 1, Action: tool, arguments in RFC 8785 form, mode and tool digest. */
  readonly request_digest: Digest;
  /** The request digest with on-behalf-of and session: what a repeated Idempotency-Key is compared by. */
  readonly comparison_digest: Digest;
  /** Keyed hash; the key itself is the client's. */
  readonly idempotency_key_hash: string | null;
  readonly on_behalf_of: string | null;
  readonly session: string | null;
  readonly intent_signed: boolean;
  readonly intent_hash: Digest | null;
  /** Of the payload `policy_input`: arguments, facts and all else that was judged. */
  readonly input_digest: Digest;
}

export interface WitnessVerdict {
  readonly level: 'L0' | 'L1' | 'L2';
  readonly verdict: 'VERIFIED' | 'MISMATCH' | 'UNVERIFIABLE';
  /** `reported`: the tool's own word. `none`: nobody could say. */
  readonly method: 'reported' | 'edge_reported' | 'none';
  readonly reasons: readonly string[];
  readonly summary: string;
  readonly evidence_digest: Digest | null;
  readonly diff_rows: number;
}

export interface ExecutionOutcome {
  readonly status: ExecutionStatus;
  readonly error_code: ErrorCode | null;
  /** Our own words; what the upstream said is in the result payload. */
  readonly error_message: string | null;
  readonly result_digest: Digest | null;
  readonly started_at: Timestamp | null;
  readonly finished_at: Timestamp;
  readonly latency_ms: number | null;
}

/** Stream `action-<act_id>`. */
export type ActionEvent =
  | { type: 'ActionSubmitted'; data: Submission & { at: Timestamp } }
  | { type: 'ActionDecided'; data: { action: ActionId; decision: Decision; at: Timestamp } }
  | {
      type: 'ExecutionReady';
      /** Not claimed by `start_by`: failed, nothing sent (`gate.start_timeout`). */
      data: { action: ActionId; class: ExecutionClass; timeout_ms: number; start_by: Timestamp; at: Timestamp };
    }
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
        /** Of attempt 1, for every attempt. */
        deadline: Timestamp;
        at: Timestamp;
      };
    }
  | {
      type: 'ExecutionFinished';
      data: ExecutionOutcome & { action: ActionId; attempt: number; claim: string | null; at: Timestamp };
    }
  | { type: 'ActionWitnessed'; data: WitnessVerdict & { action: ActionId; at: Timestamp } }
  | {
      type: 'LateReport';
      /** An outcome that came after another claim or outcome. Evidence; changes no state. */
      data: ExecutionOutcome & { action: ActionId; attempt: number; claim: string; at: Timestamp };
    }
  | { type: 'SubmissionAbandoned'; data: { action: ActionId; at: Timestamp } };
