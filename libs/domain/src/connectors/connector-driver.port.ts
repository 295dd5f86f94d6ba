import type { Digest, JsonObject } from '#libs/crypto';

import type {
  ActionId,
  AgentId,
  DomainError,
  ErrorCode,
  ExecutionStatus,
  MoneyMarks,
  OrgId,
  SideEffect,
} from '../kernel/index.js';
import type { ConnectorType } from './connector.events.js';
import type { CommittedTransaction, StatementSaid } from './change-log.js';
import type { LiveConnector } from './connector.state.js';
import type { ConnectorCheck, TestedConnector } from './connector-test.js';
import type { LoggedTransaction } from './logged-transaction.js';
import type { DiscoveredTools } from './discovered-tools.js';
import { nothingToRead, type Observation, type ReadBackTerms } from './read-back.js';
import type { CallCost, RequestFacts } from './request-facts.js';
import type { TrippedBreaker } from './tripped-breaker.js';

export type { SideEffect };

/** One operation a connector serves. */
export interface ToolDescription {
  /** Without the connector's part. */
  readonly name: string;
  readonly description: string | null;
  /** A verb phrase that goes on after `wants to`: `refund a customer`. Absent where the config gives none. */
  readonly title?: string;
  /** Its arguments that are amounts of money; absent where none is marked. */
  readonly money?: MoneyMarks;
  readonly sideEffect: SideEffect;
  /**
   * What calls of it may be beside `sideEffect`, by their arguments (`ConnectorDriver.sideEffectOf`). Absent where all
   * calls of it are alike.
   */
  readonly callsMayBe?: readonly SideEffect[];
  /**
   * The class of its executions. A repeatable call may be sent again after a crash or a passing failure; any other is
   * sent once (rule EXEC-2).
   */
  readonly isRepeatable: boolean;
  /**
   * Over all of the config that says what a call sends, where to, how the credential travels and how the call is
   * confirmed. A call is sent and confirmed only while this is the digest that the policy's decision was made under.
   */
  readonly digest: Digest;
  /** For the whole call, all attempts together. */
  readonly timeoutMs: number;
  /** JSON Schema (2020-12) of the arguments; nothing beyond it is accepted. */
  readonly inputSchema: JsonObject;
  /** How a call of it is confirmed (level L1); absent where nothing but its own word says what it did. */
  readonly readBack?: ReadBackTerms;
  /**
   * How a call of it is witnessed by the system of record's own change log (level L2); absent where no change log is
   * followed.
   */
  readonly changeLog?: ChangeLogTerms;
  /** The facts of its calls need a read of the system, before the policy is asked (`ConnectorDriver.readFacts`). */
  readonly readsFacts?: true;
  /** Whether the facts of a call say what it spends; absent where they never do. */
  readonly namesCost?: boolean;
  /**
   * Digest of what the connector's server says of the tool, where a server names it: the definition is a row
   * (`ToolDefinitions`), and what is not said here is said there.
   */
  readonly definition?: Digest;
  /**
   * What a person has to look at before the tool can be called: the server describes it otherwise than was accepted.
   * Absent for a tool that can be called.
   */
  readonly held?: HeldTool;
}

/** The answer of a postcondition that was asked of a change log. `none`: the tool has none. */
export type ChangeJudgement = 'none' | 'met' | 'failed' | 'unanswered';

export interface ChangeLogTerms {
  /** How long the change log is waited for, from the outcome on. */
  readonly timeoutMs: number;
}

/** Two digests of definitions, as people compare them. */
export interface HeldTool {
  readonly observed: Digest;
  /** Null where nobody has accepted any. */
  readonly accepted: Digest | null;
}

/** A request as a person looks at it before it is sent: its line, without headers, body and credential. */
export interface ShownRequest {
  readonly method: string;
  /** With the query, as it will be dialled. */
  readonly url: string;
}

/** A statement as a person looks at it before it is run. */
export interface ShownStatement {
  readonly sql: string;
  /** The text of `$1`, `$2` and so on, as it is sent; null is NULL. */
  readonly params: readonly (string | null)[];
}

/** What a call would send, as far as its type can tell before it sends. At most one of the two is not null. */
export interface RequestPreview {
  /** Null when the arguments build no request, or a type sends nothing that a line could show. */
  readonly request: ShownRequest | ShownStatement | null;
  /** Why these arguments build no request, in the words of the outcome that `send` would give. */
  readonly fault: string | null;
}

/** Of a type that cannot tell before it sends. */
export const NO_PREVIEW: RequestPreview = { request: null, fault: null };

/** Why arguments build no request: error code `validation_failed`, nothing sent. */
export interface ArgumentFault {
  /** For example `args.amount`. */
  readonly param: string;
  /** A calm sentence that holds no argument value. */
  readonly message: string;
}

export interface ConnectorCall {
  readonly org: OrgId;
  readonly action: ActionId;
  /** Whose call it is: what an upstream keeps of one agent is never another's. */
  readonly agent: AgentId;
  /** As the gate judged it; its status was `active`. */
  readonly connector: LiveConnector;
  readonly toolName: string;
  readonly args: JsonObject;
  readonly attempt: 1 | 2 | 3;
  /** Header of that name, for the tool to go on with the trace of the call (W3C Trace Context); null where there is none. */
  readonly traceparent: string | null;
  /** On the kernel's monotonic clock; the deadline of attempt 1, whatever the attempt. */
  readonly deadlineMonotonicMs: number;
  /**
   * Asked every time a connection is up and before its first request byte (rule GATE-3). A code means: send nothing,
   * end as `failed` with that code.
   * @param hasSent an earlier request of this call was sent, and this one follows its redirect; or this one does not call
   * the tool, and prepares the one that does: it may go although the connector has changed
   */
  mayStillSend(hasSent: boolean): Promise<ErrorCode | null>;
  /**
   * Puts on record what a call is about to do, for whoever has to find out what became of it. Called at most once an
   * attempt, before anything is changed. A code means: the claim is lost or nothing could be recorded, change nothing, end
   * as `failed` with that code.
   */
  recordProgress(said: StatementSaid): Promise<ErrorCode | null>;
}

/** A call whose outcome was lost, and what was on record of it. */
export interface LostCall extends Pick<ConnectorCall, 'org' | 'action' | 'connector' | 'deadlineMonotonicMs'> {
  readonly toolName: string;
  readonly said: StatementSaid;
}

/** A write to be confirmed by a read. */
export interface ReadBackCall extends Pick<
  ConnectorCall,
  'org' | 'action' | 'connector' | 'traceparent' | 'mayStillSend'
> {
  /** The tool that wrote, and the arguments that were judged. */
  readonly toolName: string;
  readonly args: JsonObject;
  /** What it answered, as recorded; null where its outcome is not known. */
  readonly result: JsonObject | null;
  /** Of this one read, with its repetitions. */
  readonly deadlineMonotonicMs: number;
}

export interface CallOutcome {
  /** `failed`: certainly not applied. `unknown`: it may have run. */
  readonly status: ExecutionStatus;
  readonly errorCode: ErrorCode | null;
  /** One calm sentence without any upstream word, argument or secret. */
  readonly errorMessage: string | null;
  /** `{status, headers, body}`, redacted and capped, as its RFC 8785 text; null when there was no answer to keep. */
  readonly result: string | null;
  /** Whether a request byte may have left. False means certainly not. */
  readonly hasSent: boolean;
  /**
   * Not null when another attempt is allowed after this delay: the tool is repeatable, the failure passing, an attempt
   * left and the deadline far enough. The caller records the new attempt before it calls `send` again.
   */
  readonly retryAfterMs: number | null;
  /** What the call did spend, where the answer says so and it may be other than what was foreseen. */
  readonly cost?: CallCost;
  /** Of a call that committed a transaction which a change log can witness. */
  readonly transaction?: CommittedTransaction;
  /** What was seen that the connector must not go on with: it is disabled before the outcome is recorded. */
  readonly breaker?: TrippedBreaker;
}

/** Which call the system of a connector is asked about before it is decided. It is no attempt of it. */
export interface FactsQuestion extends Pick<
  ConnectorCall,
  'org' | 'connector' | 'toolName' | 'args' | 'deadlineMonotonicMs'
> {
  /** The facts of an earlier decision about the same call, for what only time changes; null where there is none. */
  readonly recorded: RequestFacts | null;
  /** Whether facts will do that were read a moment ago for another question. */
  readonly mayBeRemembered: boolean;
  /** As of a call. */
  mayStillSend(): Promise<ErrorCode | null>;
}

export interface ReadFacts {
  readonly facts: RequestFacts;
  /** Whether they were read for another question, a moment ago. */
  readonly isRemembered?: boolean;
  /** What was seen that the connector must not go on with. */
  readonly breaker?: TrippedBreaker;
}

/** Who asks a server for its tools, and until when. */
export interface ToolsQuestion extends Pick<TestedConnector, 'connector' | 'deadlineMonotonicMs' | 'mayStillSend'> {
  /** Whether a list that is young enough will do. */
  readonly isYoungEnough: boolean;
}

/** What asking a server for its tools came to. */
export type ToolsAnswer =
  | {
      readonly ok: true;
      /** As the log has them now. Null where what the server said could not be recorded: `whyUnrecorded` says why. */
      readonly discovered: DiscoveredTools | null;
      readonly whyUnrecorded: DomainError | null;
    }
  | { readonly ok: false; readonly errorCode: ErrorCode; readonly errorMessage: string };

/** Certainly not applied, nothing sent. */
export const failedOutcome = (errorCode: ErrorCode, errorMessage: string): CallOutcome => ({
  status: 'failed',
  errorCode,
  errorMessage,
  result: null,
  hasSent: false,
  retryAfterMs: null,
});

/**
 * One per connector type. The other questions are pure functions over a connector as the log has it and may be asked on
 * every request; only `send`, `observe` and what `checks` gives touch the world. Adapters: libs/infra/src/connectors.
 */
export abstract class ConnectorDriver {
  abstract readonly type: ConnectorType;

  /** Null when the connector serves no tool of that name. Names compare byte for byte. */
  abstract toolOf(connector: LiveConnector, toolName: string): ToolDescription | null;

  /** The tools that can be called, in the order of the config or of the server. `toolOf` knows those that are held, too. */
  abstract toolsOf(connector: LiveConnector): readonly ToolDescription[];

  /** How long whoever is told its tools may keep the list, in milliseconds; null where nothing but the config changes it. */
  toolsTtlMs(_connector: LiveConnector): number | null {
    return null;
  }

  /**
   * What is wrong with a config that keeps to the rules of its type, with the field path (`config.tools[0].sql`) in
   * `param`; null where nothing is.
   */
  configFault(_config: JsonObject): ArgumentFault | null {
    return null;
  }

  /** `{}` when these arguments build no request: then a default deny refuses them before any connector code runs. */
  abstract requestFacts(connector: LiveConnector, toolName: string, args: JsonObject): RequestFacts;

  /**
   * The facts of a call, with those that the system itself has to be asked for. Never throws for what the system, the
   * network or the vault did: the facts say what could not be read.
   */
  readFacts({ connector, toolName, args }: FactsQuestion): Promise<ReadFacts> {
    return Promise.resolve({ facts: this.requestFacts(connector, toolName, args) });
  }

  /**
   * What people who are asked about a call are told of its request.
   * @param _facts what is known of it, where its system was asked
   */
  previewOf(_connector: LiveConnector, _toolName: string, _args: JsonObject, _facts?: RequestFacts): RequestPreview {
    return NO_PREVIEW;
  }

  /**
   * One attempt, called after it was recorded. Never throws for what the upstream, the network or the vault did: that is
   * the outcome. Arguments that build no request end as `failed` with `validation_failed`, nothing sent.
   */
  abstract send(call: ConnectorCall): Promise<CallOutcome>;

  /**
   * The side effect of one call, where it hangs on its arguments. Whatever it says, a tool's own `sideEffect` is the least.
   */
  sideEffectOf(connector: LiveConnector, toolName: string, _args: JsonObject): SideEffect {
    return this.toolOf(connector, toolName)?.sideEffect ?? 'unknown';
  }

  /**
   * What became of a call whose answer nobody has, asked of the system itself. Null for a type that cannot say. Never
   * throws for what the system, the network or the vault did: then the outcome is `unknown`.
   */
  outcomeOfLost(_lost: LostCall): Promise<CallOutcome | null> {
    return Promise.resolve(null);
  }

  /**
   * What the postcondition of a tool says of what a change log holds of a call. `none`: the tool has none.
   * @param args as they were judged
   */
  judgeChange(
    _connector: LiveConnector,
    _toolName: string,
    _args: JsonObject,
    _logged: LoggedTransaction,
  ): ChangeJudgement {
    return 'none';
  }

  /**
   * One read of what a write should have changed, by the same way as a call of the read tool, and what it says of the
   * write. The answer is judged as it came and kept redacted. Never throws for what the upstream, the network or the
   * vault did. A type none of whose tools has a `readBack` leaves it as it is.
   */
  observe(_write: ReadBackCall): Promise<Observation> {
    return Promise.resolve(nothingToRead('tool_unknown'));
  }

  /**
   * Asks the server of a connector for its tools, and records what is new. Never throws for what the server, the network
   * or the vault did. Null for a type whose tools no server names.
   */
  refreshTools(_question: ToolsQuestion): Promise<ToolsAnswer | null> {
    return Promise.resolve(null);
  }

  /**
   * What a connection test asks beside the common checks and after them, in order. One that has the name of a common check
   * takes its place: for types whose protocol the common one does not speak.
   */
  checks(): readonly ConnectorCheck[] {
    return [];
  }
}
