import { setTimeout as sleep } from 'node:timers/promises';
import {
  bodyProfile,
  canonicalize,
  digestOf,
  parseStrictJson,
  type Digest,
  type JsonObject,
  type JsonValue,
} from '#libs/crypto';
import {
  connectorDecider,
  connectorStreamId,
  failedOutcome,
  isLive,
  type CallOutcome,
  type ConnectorDriver,
  type ConnectorState,
  type LiveConnector,
} from '../../connectors/index.js';
import { agentDecider, stopCodeOf } from '../../agents/index.js';
import {
  actionChannel,
  type Bus,
  type Logger,
  type PayloadStore,
  StoreUnavailable,
  streamRef,
  SYSTEM,
  timestampOf,
  type ActionId,
  type CommandMetadata,
  type ErrorCode,
  type ExpectedRevision,
  type Folded,
  type StreamRef,
} from '../../kernel/index.js';
import { organizationDecider } from '../../people/index.js';
import { actionDecider, ATTEMPTS_MAX } from '../action.decider.js';
import type { ExecutionOutcome } from '../action.events.js';
import { currentAttempt, type Action, type ExecutionAttempt, type LivingAction } from '../action.state.js';
import type { GateKernel } from '../gate-kernel.js';
import { parseToolName } from '../tool-name.js';
import { newClaim } from './execution-starter.js';

/** Our own document around arguments that were judged before: room for them and for the facts. */
const STORED_INPUT_PROFILE = bodyProfile({ maxBytes: 4 * 1024 * 1024, maxDepth: 40 });

interface Execution {
  readonly id: ActionId;
  readonly action: LivingAction;
  readonly attempt: ExecutionAttempt;
  readonly args: JsonObject;
  readonly deadlineMonotonicMs: number;
}

/** What the send barrier compares with, and what it said. */
interface SendBarrier {
  readonly connectorRevision: ExpectedRevision;
  hasOpened: boolean;
  hasMoved: boolean;
}

/** A connector that changes faster than this cannot be used at the moment. */
const MAX_LOOKS = 4;
const CONNECTOR_GONE = 'The connector was removed, disabled or changed, and nothing was sent.';

/** After it the sweeper's word stands: unknown. */
const RECORD_PATIENCE_MS = 120_000;
const FIRST_RECORD_RETRY_MS = 100;
const LONGEST_RECORD_RETRY_MS = 2_000;

/** Claims whose append had no clear answer; far more than can be waiting for one. */
const MAX_WITHDRAWN = 50_000;

/** Executes what this process has claimed, and says what happened (architecture, steps 2 and 3). */
export class ActionExecutor {
  private readonly withdrawn = new Set<string>();

  constructor(
    private readonly gate: GateKernel,
    private readonly executor: string,
    private readonly payloads: PayloadStore,
    private readonly bus: Bus,
    private readonly logger: Logger,
  ) {}

  /**
   * Claims the execution and runs it. False when somebody else has it, or nothing is left to do.
   * @param supersedes the attempt to take over, whose executor never said what happened; null for the first
   */
  async claimAndRun(id: ActionId, supersedes: ExecutionAttempt | null): Promise<boolean> {
    const known = await this.gate.streams.load(streamRef(actionDecider, id));
    if (!isLiving(known.state)) return false;
    const mayHaveRun = supersedes !== null && !this.hasWithdrawn(supersedes.claim);
    const claimed = await this.claim(id, known, { supersedes: supersedes?.claim ?? null, mayHaveRun });
    if (!claimed) return false;
    await this.run(id, claimed, await this.argumentsOf(known.state));
    return true;
  }

  /**
   * Runs an execution whose current claim is this process's own. Records the outcome whatever happens; only a store that
   * cannot be reached leaves that to the sweeper.
   */
  async run(id: ActionId, claimed: Folded<Action>, args: JsonObject | null): Promise<void> {
    let folded = claimed;
    for (;;) {
      const action = folded.state as LivingAction;
      const attempt = currentAttempt(action);
      if (!attempt) return;
      const remainingMs = Date.parse(attempt.deadline) - Date.parse(attempt.at);
      const deadlineMonotonicMs = this.gate.clock.monotonicMs() + remainingMs;
      const outcome = args
        ? await this.attempt({ id, action, attempt, args, deadlineMonotonicMs })
        : failedOutcome(
            'service_unavailable',
            'The arguments of this call are no longer stored, and nothing was sent.',
          );
      if (outcome.retryAfterMs !== null && attempt.attempt < ATTEMPTS_MAX) {
        await sleep(outcome.retryAfterMs);
        const mayHaveRun = outcome.status !== 'failed';
        const next = await this.claim(id, folded, { supersedes: attempt.claim, mayHaveRun });
        if (next) {
          folded = next;
          continue;
        }
      }
      await this.recordPatiently(id, folded, attempt, outcome);
      return;
    }
  }

  /** This process never runs that claim, should it be in the log after all. */
  withdraw(claim: string): void {
    this.withdrawn.add(claim);
    if (this.withdrawn.size > MAX_WITHDRAWN) this.withdrawn.delete(this.withdrawn.values().next().value as string);
  }

  hasWithdrawn(claim: string): boolean {
    return this.withdrawn.has(claim);
  }

  /** Ends an execution whose first claim this process withdrew before it began: certainly nothing was sent. */
  async recordNothingSent(id: ActionId, attempt: ExecutionAttempt): Promise<void> {
    const folded = await this.gate.streams.load(streamRef(actionDecider, id));
    const message = 'The service could not record this call in time, and nothing was sent. Submit it again.';
    await this.record(id, folded, attempt, failedOutcome('service_unavailable', message));
    this.withdrawn.delete(attempt.claim);
  }

  private async claim(
    id: ActionId,
    known: Folded<Action>,
    previous: { supersedes: string | null; mayHaveRun: boolean },
  ): Promise<Folded<Action> | null> {
    const data = { ...newClaim(this.executor, this.gate.randomness), ...previous };
    const metadata = this.metadata(known.state as LivingAction, `claim:${data.claim}`);
    const command = { type: 'ClaimExecution' as const, data, metadata };
    try {
      const result = await this.gate.runner.run(actionDecider, id, command, metadata, known);
      return result.events.length > 0 ? result.folded : null;
    } catch (error) {
      if (error instanceof StoreUnavailable) this.withdraw(data.claim);
      throw error;
    }
  }

  /**
   * With the connector as this process remembers it; the send barrier asks for it again. Where it has changed meanwhile,
   * nothing was sent, and it is read and tried again.
   */
  private async attempt(execution: Execution): Promise<CallOutcome> {
    for (let look = 1; ; look += 1) {
      const ref = this.connectorRef(execution);
      const connector = await (look === 1 ? this.gate.streams.remembered(ref) : this.gate.streams.load(ref));
      const barrier: SendBarrier = { connectorRevision: connector.revision, hasOpened: false, hasMoved: false };
      const outcome = await this.send(execution, connector.state, barrier);
      const isStale = look === 1 && outcome.errorCode === 'connector_unavailable' && !outcome.hasSent;
      if (!barrier.hasMoved && !isStale) return outcome;
      if (look === MAX_LOOKS) return failedOutcome('connector_unavailable', CONNECTOR_GONE);
    }
  }

  private async send(execution: Execution, state: ConnectorState, barrier: SendBarrier): Promise<CallOutcome> {
    const { action, attempt, id, args } = execution;
    const toolName = parseToolName(action.submission.tool)?.tool ?? '';
    const found = this.judgedConnector(action, state, toolName);
    if (!found) return failedOutcome('connector_unavailable', CONNECTOR_GONE);
    try {
      return await found.driver.send({
        org: action.submission.org,
        action: id,
        connector: found.connector,
        toolName,
        args,
        attempt: attempt.attempt as 1 | 2 | 3,
        deadlineMonotonicMs: execution.deadlineMonotonicMs,
        mayStillSend: () => this.mayStillSend(execution, barrier),
      });
    } catch (error) {
      // A driver that throws has broken its promise: what it sent is not known.
      this.logger.error('a connector driver failed', { action_id: id, error });
      return {
        status: 'unknown',
        errorCode: 'internal_error',
        errorMessage: 'The connector failed in an unexpected way; the call may have run.',
        result: null,
        hasSent: true,
        retryAfterMs: null,
      };
    }
  }

  private connectorRef({ action: { submission } }: Execution): StreamRef<ConnectorState> {
    const name = parseToolName(submission.tool)?.connector ?? '';
    return streamRef(connectorDecider, connectorStreamId(submission.org, name));
  }

  /** The tool must still be the one that was judged. */
  private judgedConnector(
    { submission }: LivingAction,
    state: ConnectorState,
    toolName: string,
  ): { connector: LiveConnector; driver: ConnectorDriver } | null {
    if (!isLive(state) || state.id !== submission.connector || state.status !== 'active') return null;
    const driver = this.gate.registry.driverOf(state.type);
    const current = driver?.toolOf(state.config, toolName);
    return driver && current?.digest === submission.tool_digest ? { connector: state, driver } : null;
  }

  /**
   * Asked after the connection is up and before the first byte, every time (architecture, 'What a decision reads'): a
   * Stop, a suspension, a revoke or a disabled connector ends the execution with nothing sent, and so does a claim that
   * another process has taken over, or a store that answers too slowly to be believed. The first byte of all also waits
   * for the connector to be the one that the request was built from.
   */
  private async mayStillSend(execution: Execution, barrier: SendBarrier): Promise<ErrorCode | null> {
    const { submission } = execution.action;
    const askedAtMs = this.gate.clock.monotonicMs();
    try {
      const now = await this.gate.streams.loadAll({
        agent: streamRef(agentDecider, submission.agent),
        org: streamRef(organizationDecider, submission.org),
        connector: this.connectorRef(execution),
        action: streamRef(actionDecider, execution.id),
      });
      if (this.gate.clock.monotonicMs() - askedAtMs >= this.gate.settings.barrierMaxAgeMs) return 'service_unavailable';
      const [agent, org, connector, action] = [now.agent.state, now.org.state, now.connector.state, now.action.state];
      const stopped = stopCodeOf(agent.status, org.status);
      if (stopped) return stopped;
      if (agent.status === 'none' || agent.keys.get(submission.key)?.revokedAt) return 'api_key_revoked';
      if (!isLive(connector) || connector.status !== 'active' || connector.id !== submission.connector)
        return 'connector_unavailable';
      const isOurs = isLiving(action) && currentAttempt(action)?.claim === execution.attempt.claim;
      if (!isOurs) return 'service_unavailable';
      barrier.hasMoved = !barrier.hasOpened && now.connector.revision !== barrier.connectorRevision;
      barrier.hasOpened = !barrier.hasMoved;
      return barrier.hasMoved ? 'connector_unavailable' : null;
    } catch (error) {
      this.logger.warn('the send barrier could not be read; nothing is sent', { action_id: execution.id, error });
      return 'service_unavailable';
    }
  }

  /** What happened is known here and nowhere else, so a store that is away for a while is waited for. */
  private async recordPatiently(
    id: ActionId,
    folded: Folded<Action>,
    attempt: ExecutionAttempt,
    outcome: CallOutcome,
  ): Promise<void> {
    const begunMs = this.gate.clock.monotonicMs();
    for (let waitMs = FIRST_RECORD_RETRY_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_RECORD_RETRY_MS)) {
      try {
        await this.record(id, folded, attempt, outcome);
        return;
      } catch (error) {
        const waitedMs = this.gate.clock.monotonicMs() - begunMs;
        if (!(error instanceof StoreUnavailable) || waitedMs + waitMs > RECORD_PATIENCE_MS) throw error;
        this.logger.warn('an outcome could not be recorded yet', { action_id: id, error });
        await sleep(waitMs);
      }
    }
  }

  private async record(
    id: ActionId,
    folded: Folded<Action>,
    attempt: ExecutionAttempt,
    outcome: CallOutcome,
  ): Promise<void> {
    const action = folded.state as LivingAction;
    const now = timestampOf(this.gate.clock.nowMs());
    const result = outcome.result === null ? null : await this.storeResult(action, outcome.result);
    const data: ExecutionOutcome = {
      status: outcome.status,
      error_code: outcome.errorCode,
      error_message: outcome.errorMessage,
      result_digest: result,
      started_at: attempt.at,
      finished_at: now,
      latency_ms: Math.max(0, Date.parse(now) - Date.parse(attempt.at)),
    };
    const metadata = this.metadata(action, `outcome:${attempt.claim}`);
    const command = { type: 'RecordOutcome' as const, data: { claim: attempt.claim, outcome: data }, metadata };
    await this.gate.runner.run(actionDecider, id, command, metadata, folded);
    this.bus.publish(actionChannel(id), 'recorded');
  }

  private async storeResult({ submission }: LivingAction, result: JsonValue): Promise<Digest> {
    const { action: owner, org } = submission;
    const body = canonicalize(result);
    const digest = digestOf(body);
    await this.payloads.put({ owner, org, kind: 'result', digest, body });
    return digest;
  }

  private async argumentsOf(action: LivingAction): Promise<JsonObject | null> {
    const { action: owner, input_digest: digest } = action.submission;
    const document = await this.payloads.get(owner, 'policy_input', digest);
    if (document === null) return null;
    // The strict parser gives objects without a prototype: a member named like one of Object's is data.
    return (parseStrictJson(Buffer.from(document), STORED_INPUT_PROFILE) as { args: JsonObject }).args;
  }

  private metadata({ submission }: LivingAction, commandId: string): CommandMetadata {
    const now = timestampOf(this.gate.clock.nowMs());
    return { org: submission.org, actor: SYSTEM, requestId: null, commandId, correlation: submission.action, now };
  }
}

const isLiving = (action: Action): action is LivingAction => 'submission' in action;
