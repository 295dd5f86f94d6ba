import type { Digest } from '#libs/crypto';
import type {
  ActionId,
  Actor,
  AgentId,
  ErrorCode,
  OrgId,
  PolicyId,
  PolicyVersionId,
  ReplayId,
  Timestamp,
} from '../kernel/index.js';
import type { PolicyDecision } from '../policies/index.js';

export type ReplayOutcome = PolicyDecision['outcome'];

/** The last three never change again. */
export type ReplayStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';

/** Which actions: those created in [from, to). */
export interface ReplayWindow {
  readonly from: Timestamp;
  readonly to: Timestamp;
}

/** The version that decides calls at the moment of a request. */
export interface VersionInForce {
  readonly policy: PolicyId;
  readonly versionId: PolicyVersionId;
  readonly version: number;
}

/** What a replay is asked for. */
export interface ReplayRequest extends ReplayWindow {
  readonly id: ReplayId;
  readonly org: OrgId;
  readonly purpose: 'manual';
  readonly policy: PolicyId;
  readonly versionId: PolicyVersionId;
  readonly version: number;
  /**
   * The version that was in force when it was asked for: each call is judged by it, too, and what the two say is compared.
   * Null where none was in force: compared is what was decided then.
   */
  readonly inForce: VersionInForce | null;
  readonly requestedBy: Actor;
  /** Actions in the window when it was asked for. */
  readonly total: number;
  readonly createdAt: Timestamp;
}

export interface Replay extends ReplayRequest {
  readonly status: ReplayStatus;
  /** Actions looked at, judged or skipped. */
  readonly done: number;
  /** Null until it has succeeded. */
  readonly result: ReplayResult | null;
  /** Of the result's canonical JSON: two replays that found the same have the same. */
  readonly digest: Digest | null;
  /** Null unless it has failed. */
  readonly errorCode: ErrorCode | null;
  /** Null while it is queued or running. */
  readonly endedAt: Timestamp | null;
}

/** How a part of the judged actions came out under the candidate; `changed` counts those that were decided otherwise. */
export type ReplayTally = {
  judged: number;
  changed: number;
  allow: number;
  require_approval: number;
  deny: number;
};

/** One way in which the candidate decides otherwise than what it is compared with, with the oldest of its actions. */
export type ReplayChange = {
  from: ReplayOutcome;
  to: ReplayOutcome;
  /** Of the candidate. Null where its default decided. */
  rule_id: string | null;
  /** `builtin` where the condition of that rule had no answer, which refuses the call whatever the rule says. */
  source: PolicyDecision['source'];
  count: number;
  sample: ActionId[];
};

/** What a replay found. Plain JSON in snake case: it is shown and digested as it stands. */
export type ReplayResult = {
  judged: number;
  /** Actions that say nothing about the candidate. */
  skipped: {
    /** Their arguments are stored no more (retention). */
    payload_removed: number;
    /** What is stored is not what was judged. */
    payload_damaged: number;
    /** What a policy says of them was never asked, or is not on record: a Stop, an unknown tool, a budget refused them. */
    not_asked: number;
    /** The candidate took too long to judge it; the gate would have refused it. Chance decides which calls these are. */
    time_limit: number;
  };
  /** Judged actions about which the candidate says something else than what was decided then. */
  changed_from_recorded: number;
  changes: ReplayChange[];
  /** `source`: builtin where a condition of the rule had no answer. */
  by_rule: ({ rule_id: string | null; source: PolicyDecision['source'] } & ReplayTally)[];
  /** Null: all tools beyond those that are named. */
  by_tool: ({ tool: string | null } & ReplayTally)[];
  /** Null: all agents beyond those that are named. */
  by_agent: ({ agent: AgentId | null } & ReplayTally)[];
  /** Calls that a person refused and the candidate would let through. */
  allows_denied_by_person: number;
  /** Calls that were refused without asking anybody, and that the candidate would let through without asking anybody. */
  allows_never_asked: number;
};
