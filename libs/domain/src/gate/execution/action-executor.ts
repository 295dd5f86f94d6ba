import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '#libs/crypto';
import {
  type CallOutcome,
  type ConnectorState,
  failedOutcome,
  type LiveConnector,
  longestReadBackMs,
} from '../../connectors/index.js';
import {
  failpoint,
  type Bus,
  type Logger,
  type PayloadStore,
  StoreUnavailable,
  streamRef,
  timestampOf,
  type ActionId,
  type Folded,
  type StreamRef,
} from '../../kernel/index.js';
import {
  type ActionCommand,
  actionDecider,
  awaitsReadBack,
  currentAttempt,
  remainingAtClaimMs,
  type Action,
  type ExecutionAttempt,
  type LivingAction,
  forwardedTrace,
  connectorRefOf,
  executorMetadata,
  type FoundByCommit,
  isLiving,
  type Execution,
} from '../action/index.js';
import type { Sharer } from './fair-shares.js';
import type { GateKernel } from '../kernel/index.js';
import { AttemptProgress } from './attempt-progress.js';
import { ClaimsUnderWay, type HeldClaims } from './claims-under-way.js';
import { type Accepted } from './execution-starter.js';
import { judgedArguments, judgedTool, whyHeldNow } from '../judgement/index.js';
import { LostExecutions } from './lost-executions.js';
import { OUTCOME_HOLD_MS, OutcomeRecorder, type AttemptOutcome } from './outcome-recorder.js';
import { ReadBack } from '../witness/index.js';
import { executedBy, isHeldByBreaker, newClaim, SendBarrier, tripBreaker } from '../sending/index.js';

/** How often a call is built anew because its connector changed. A connector that changes more often cannot be used. */
const MAX_LOOKS = 4;
const CONNECTOR_GONE = 'The connector was removed, disabled or changed, and nothing was sent.';

const CONNECTOR_UNREAD =
  'The service could not read the connector of this call in time, and nothing was sent. Submit it again.';

const ARGUMENTS_GONE = 'The arguments of this call are no longer stored as they were judged, and nothing was sent.';

type ClaimExecution = Extract<ActionCommand, { type: 'ClaimExecution' }>;

const leave = (claims: Set<string>, claim: string): void => {
  claims.add(claim);
  if (claims.size > MAX_LEFT) claims.delete(claims.values().next().value as string);
};

/** One execution, from its claim to its outcome. */
interface Run {
  readonly id: ActionId;
  readonly args: JsonObject | null;
  /**
   * What the commit of the first claim has checked, for the send barrier of the first attempt; null if it checked
   * nothing.
   */
  readonly found: FoundByCommit | null;
  /** The deadline of the whole execution, on the monotonic clock. */
  readonly deadlineMonotonicMs: number;
  readonly held: HeldClaims;
}

/**
 * An execution that this process has just claimed. `args` is null if it was taken up later and the arguments are no
 * longer stored.
 */
type Claimed = Omit<Accepted, 'args'> & Pick<Run, 'args'>;

interface NextAttempt {
  /** The action with the new claim; null if no further attempt may run. */
  readonly claimed: Folded<Action> | null;
  /** The new claim, if the store gave no clear answer whether it is in the log; else null. */
  readonly withdrawn: string | null;
}

const NO_OTHER: NextAttempt = { claimed: null, withdrawn: null };

/**
 * Limit on each set of remembered claims that this process will not run or report any more. Far more than can be
 * waiting for a sweep.
 */
const MAX_LEFT = 50_000;

/** Runs the executions that this process has claimed, and records their outcomes (rule EXEC-1). */
export class ActionExecutor {
  private readonly underWay = new ClaimsUnderWay();
  private readonly withdrawn = new Set<string>();
  private readonly dropped = new Set<string>();
  private readonly recorder: OutcomeRecorder;
  private readonly reads: ReadBack;
  private readonly lost: LostExecutions;

  constructor(
    private readonly gate: GateKernel,
    private readonly executor: string,
    private readonly payloads: PayloadStore,
    bus: Bus,
    private readonly logger: Logger,
  ) {
    this.recorder = new OutcomeRecorder(gate, bus, logger);
    this.reads = new ReadBack(gate, payloads, bus, logger);
    this.lost = new LostExecutions(gate, bus, logger);
  }

  /**
   * Claims the execution and runs it. False if another executor has claimed it or nothing is left to run.
   * @param supersedes the attempt of a silent executor that is taken over; null for the first attempt
   */
  claimAndRun(id: ActionId, supersedes: ExecutionAttempt | null): Promise<boolean> {
    return this.underWay.during(this.takeUp(id, supersedes));
  }

  /** Does the read-back of an execution whose executor is gone. A read may be repeated. */
  readBack(id: ActionId): Promise<void> {
    return this.underWay.during(this.reads.confirm(id));
  }

  /** Ends an execution whose executor is gone, by what the system says became of it. */
  async settleLost(id: ActionId, lost: Parameters<LostExecutions['settle']>[1]): Promise<void> {
    if (await this.underWay.during(this.lost.settle(id, lost))) await this.readBack(id);
  }

  /** The connector and organization for which the action takes a place; null if the action does not exist. */
  async sharerOf(id: ActionId): Promise<Sharer | null> {
    const { state } = await this.gate.streams.load(streamRef(actionDecider, id));
    if (!isLiving(state)) return null;
    const { org, connector } = state.submission;
    return { org, connector };
  }

  /**
   * Runs an execution whose current claim is this process's own, and records its outcome. Only if the store cannot be
   * reached is the outcome left to the sweeper.
   */
  run(accepted: Accepted): Promise<void> {
    return this.underWay.during(this.runHeld(accepted));
  }

  /**
   * Whether this process is still running that claim and will record its outcome, so that its own sweeper leaves the
   * claim alone.
   */
  holds(claim: string): boolean {
    return this.underWay.holds(claim, this.gate.clock.monotonicMs());
  }

  /** Executions that this process has begun and not ended. */
  get underWayCount(): number {
    return this.underWay.count;
  }

  /** Resolves when this process has no execution under way. */
  idle(): Promise<void> {
    return this.underWay.idle();
  }

  /** Marks a claim that this process will never run, even if it turns out to be in the log. */
  withdraw(claim: string): void {
    leave(this.withdrawn, claim);
  }

  hasWithdrawn(claim: string): boolean {
    return this.withdrawn.has(claim);
  }

  /** Whether this process ran that claim but failed to record its outcome, and has given it up. */
  hasDropped(claim: string): boolean {
    return this.dropped.has(claim);
  }

  /** Records that nothing was sent, for an execution whose first claim this process withdrew before it began. */
  async recordNothingSent(id: ActionId, attempt: ExecutionAttempt): Promise<void> {
    const folded = await this.gate.streams.load(streamRef(actionDecider, id));
    const message = 'The service could not record this call in time, and nothing was sent. Submit it again.';
    const outcome = failedOutcome('service_unavailable', message);
    await this.recorder.record({ folded, attempt, outcome, withdrawn: null });
    this.withdrawn.delete(attempt.claim);
  }

  private async takeUp(id: ActionId, supersedes: ExecutionAttempt | null): Promise<boolean> {
    const known = await this.gate.streams.load(streamRef(actionDecider, id));
    if (!isLiving(known.state)) return false;
    // Both are read before the claim, so that a failed read leaves the execution unclaimed.
    const args = await judgedArguments(known.state, this.payloads, this.logger);
    await this.gate.streams.remembered(connectorRefOf(known.state.submission));
    const mayHaveRun = supersedes !== null && !this.hasWithdrawn(supersedes.claim);
    const { executor, claim } = newClaim(this.executor, this.gate.randomness);
    const claimed = await this.claim(id, known, { executor, claim, supersedes: supersedes?.claim ?? null, mayHaveRun });
    if (!claimed) return false;
    await this.runHeld({ id, folded: claimed, args, found: null });
    return true;
  }

  private async runHeld({ id, folded, args, found }: Claimed): Promise<void> {
    const action = folded.state as LivingAction;
    const attempt = currentAttempt(action);
    if (!attempt) return;
    const deadlineMonotonicMs = this.gate.clock.monotonicMs() + remainingAtClaimMs(action, attempt);
    const held = this.underWay.hold(deadlineMonotonicMs + OUTCOME_HOLD_MS);
    try {
      await this.attempts({ id, args, found, deadlineMonotonicMs, held }, folded);
    } catch (error) {
      for (const claim of held.claims) leave(this.dropped, claim);
      throw error;
    } finally {
      held.release();
    }
  }

  /** Runs one attempt after another until an outcome is recorded. */
  private async attempts(run: Run, first: Folded<Action>): Promise<void> {
    for (let folded = first; ;) {
      const action = folded.state as LivingAction;
      const attempt = currentAttempt(action);
      if (!attempt) return;
      const { id, args, deadlineMonotonicMs, held } = run;
      const found = folded === first ? run.found : null;
      held.add(attempt.claim);
      const progress = new AttemptProgress(this.gate, this.logger, attempt, folded);
      const outcome = args
        ? await this.attempt({ id, action, attempt, args, deadlineMonotonicMs, found }, progress)
        : failedOutcome('service_unavailable', ARGUMENTS_GONE);
      const next =
        outcome.retryAfterMs === null
          ? NO_OTHER
          : await this.tryAgain(run, { folded: progress.folded, attempt, outcome });
      if (!next.claimed) {
        const { withdrawn } = next;
        const recorded = await this.recorder.recordPatiently({ folded: progress.folded, attempt, outcome, withdrawn });
        if (withdrawn !== null) this.withdrawn.delete(withdrawn);
        return this.confirmed(recorded, held);
      }
      folded = next.claimed;
    }
  }

  private async confirmed({ state }: Folded<Action>, held: HeldClaims): Promise<void> {
    if (!isLiving(state) || !awaitsReadBack(state)) return;
    const longestMs = longestReadBackMs(state.ready?.timeoutMs ?? 0) + OUTCOME_HOLD_MS;
    held.holdUntil(this.gate.clock.monotonicMs() + longestMs);
    await this.reads.confirm(state.submission.action);
  }

  private async tryAgain(
    { id, held }: Run,
    { folded, attempt, outcome }: Omit<AttemptOutcome, 'withdrawn'>,
  ): Promise<NextAttempt> {
    await sleep(outcome.retryAfterMs ?? 0);
    const claimant = newClaim(this.executor, this.gate.randomness);
    held.add(claimant.claim);
    const previous = { supersedes: attempt.claim, mayHaveRun: outcome.status !== 'failed' };
    try {
      await failpoint('exec.retry');
      return { claimed: await this.claim(id, folded, { ...claimant, ...previous }), withdrawn: null };
    } catch (error) {
      // Only this process knows the outcome so far, so it is recorded. `withdrawn` lets the decider accept it even if
      // the new claim is in the log.
      this.logger.warn('another attempt could not be claimed', { action_id: id, error });
      return { claimed: null, withdrawn: claimant.claim };
    }
  }

  private async claim(
    id: ActionId,
    known: Folded<Action>,
    data: ClaimExecution['data'],
  ): Promise<Folded<Action> | null> {
    const now = timestampOf(this.gate.clock.nowMs());
    const metadata = executorMetadata(known.state as LivingAction, `claim:${data.claim}`, now);
    const command = { type: 'ClaimExecution' as const, data, metadata };
    try {
      const result = await this.gate.runner.run(actionDecider, id, command, metadata, { known });
      return result.events.length > 0 ? result.folded : null;
    } catch (error) {
      if (error instanceof StoreUnavailable) this.withdraw(data.claim);
      throw error;
    }
  }

  /**
   * Sends the call with the cached connector; the send barrier checks its revision against the store. If the call was
   * not sent and the connector has changed meanwhile, the reason may be out of date, so the call is built again with
   * the current connector.
   */
  private async attempt(execution: Execution, progress: AttemptProgress): Promise<CallOutcome> {
    const ref = connectorRefOf(execution.action.submission);
    let connector = await this.remembered(ref, execution);
    if (connector === null) return failedOutcome('service_unavailable', CONNECTOR_UNREAD);
    for (let look = 1; ; look += 1) {
      const barrier = new SendBarrier(this.gate, this.logger, executedBy(execution), connector.revision);
      const outcome = await this.send(execution, connector, { barrier, progress });
      const { breaker } = outcome;
      if (breaker !== undefined) {
        await tripBreaker(this.gate, this.logger, execution.id, {
          connector: connector.state as LiveConnector,
          breaker,
        });
      }
      if (outcome.hasSent || barrier.hasOpened) return outcome;
      const current = await this.connectorNow(execution);
      if (current === null || current.revision === connector.revision) return outcome;
      if (look === MAX_LOOKS) return failedOutcome('connector_unavailable', CONNECTOR_GONE);
      connector = current;
    }
  }

  /**
   * Null if the connector is not cached and the store cannot be read. Nothing has been sent then, so the call fails.
   */
  private async remembered(ref: StreamRef<ConnectorState>, { id }: Execution): Promise<Folded<ConnectorState> | null> {
    try {
      return await this.gate.streams.remembered(ref);
    } catch (error) {
      this.logger.warn('a connector could not be read', { action_id: id, error });
      return null;
    }
  }

  /** Null if the store cannot be read; then the outcome so far stands. */
  private async connectorNow({ id, action }: Execution): Promise<Folded<ConnectorState> | null> {
    try {
      return await this.gate.streams.load(connectorRefOf(action.submission));
    } catch (error) {
      this.logger.warn('a connector could not be read again', { action_id: id, error });
      return null;
    }
  }

  private async send(
    execution: Execution,
    { state, revision }: Folded<ConnectorState>,
    { barrier, progress }: { readonly barrier: SendBarrier; readonly progress: AttemptProgress },
  ): Promise<CallOutcome> {
    const { action, attempt, id, args } = execution;
    const found = judgedTool(this.gate.registry, action, state);
    if (!found || (await isHeldByBreaker(this.gate, this.logger, found.connector, revision))) {
      return failedOutcome('connector_unavailable', whyHeldNow(this.gate.registry, action, state) ?? CONNECTOR_GONE);
    }
    try {
      return await found.driver.send({
        org: action.submission.org,
        action: id,
        agent: action.submission.agent,
        connector: found.connector,
        toolName: found.toolName,
        args,
        attempt: attempt.attempt as 1 | 2 | 3,
        traceparent: forwardedTrace(action.submission, `attempt ${attempt.attempt}`),
        deadlineMonotonicMs: execution.deadlineMonotonicMs,
        mayStillSend: (hasSent) => barrier.mayStillSend(hasSent),
        recordProgress: (said) => progress.record(said),
      });
    } catch (error) {
      // A driver must not throw. If it does, nobody knows whether it has sent the call.
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
}
