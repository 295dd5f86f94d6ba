import {
  type Folded,
  type Logger,
  type Position,
  START,
  isStoreAway,
  streamRef,
  SYSTEM,
  timestampOf,
  type ActionId,
  type CommandMetadata,
} from '../../kernel/index.js';
import {
  actionDecider,
  awaitsReadBack,
  currentAttempt,
  progressOf,
  remainingAtClaimMs,
  type Action,
  type ExecutionAttempt,
  type LivingAction,
  isRepeatableNow,
  isLiving,
} from '../action/index.js';
import { longestReadBackMs } from '../../connectors/index.js';
import { ClaimWatch } from './claim-watch.js';
import { ExecutorSilence } from './executor-silence.js';
import type { GateKernel } from '../kernel/index.js';
import type { ListedExecution, Liveness, OpenExecutions } from './recovery.ports.js';
import type { ActionExecutor } from './action-executor.js';
import type { ExecutionPlaces } from './execution-places.js';
import { Takeovers } from './takeovers.js';

/** How many executions are read in one call to the store and recovered together. */
const PAGE_SIZE = 100;

/**
 * The time between two looks at a claim adds at most this many sweep intervals to its watched time. A longer gap means
 * that this process paused.
 */
const LONGEST_STEP_SWEEPS = 2;

export interface SweepResult {
  readonly open: number;
  /** Executions that were ended, or started again. */
  readonly recovered: number;
}

/** What one sweep has found so far. */
interface Sweep {
  readonly executors: Set<string>;
  readonly claims: Set<string>;
  readonly failed: Set<ActionId>;
  /** Aborted when this process stops and must start nothing more. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Crash recovery (rules EXEC-1 and GATE-16): finds executions whose executor is gone, and ends them or starts them
 * again. Several sweepers may run at once; the event store lets one of them win each step. A sweep waits for the store
 * only, never for an execution. An action that fails is logged and does not hold up the others.
 */
export class ExecutionSweeper {
  private readonly silence: ExecutorSilence;
  private readonly watch: ClaimWatch;
  private readonly takeovers: Takeovers;
  private executors: ReadonlySet<string> = new Set();
  /** Actions that the last sweep could not recover. Each is logged once, until it succeeds or is gone. */
  private failed: ReadonlySet<ActionId> = new Set();

  constructor(
    private readonly gate: GateKernel,
    private readonly open: OpenExecutions,
    private readonly liveness: Liveness,
    private readonly runs: { executor: ActionExecutor; places: Pick<ExecutionPlaces, 'takeUp'> },
    private readonly logger: Logger,
  ) {
    this.silence = new ExecutorSilence(gate.settings.executorSilenceMs);
    this.watch = new ClaimWatch(LONGEST_STEP_SWEEPS * gate.settings.sweepIntervalMs);
    this.takeovers = new Takeovers(runs.executor, logger);
  }

  /**
   * Reads the liveness rows. To be called as often as processes beat, so that silence is measured precisely.
   * @returns whether an executor has just become silent, so that a sweep may find executions to recover
   */
  async observe(): Promise<boolean> {
    try {
      const askedMs = this.gate.clock.monotonicMs();
      const beats = await this.liveness.read();
      return this.silence.observe(beats, this.executors, { askedMs, answeredMs: this.gate.clock.monotonicMs() });
    } catch (error) {
      this.silence.startAgain();
      throw error;
    }
  }

  /**
   * @param signal ends the sweep after the current page, when the process stops
   * @throws {StoreUnavailable} if nothing can be recovered, because the store is unavailable
   */
  async sweep(signal?: AbortSignal): Promise<SweepResult> {
    const sweep: Sweep = { executors: new Set(), claims: new Set(), failed: new Set(), signal };
    let [open, recovered] = [0, 0];
    let after: Position | null = START;
    while (after !== null && !signal?.aborted) {
      const page = await this.open.list(after, PAGE_SIZE);
      recovered += await this.recoverPage(page, sweep);
      open += page.length;
      after = page.length === PAGE_SIZE ? (page.at(-1) as ListedExecution).opened : null;
    }
    if (after === null) this.remember(sweep);
    return { open, recovered };
  }

  /** @returns how many were recovered */
  private async recoverPage(page: readonly ListedExecution[], sweep: Sweep): Promise<number> {
    if (page.length === 0) return 0;
    const refs = page.map(({ action }) => [action, streamRef(actionDecider, action)] as const);
    const together = this.gate.streams.loadAll(Object.fromEntries(refs));
    const results = await Promise.all(
      refs.map(async ([id, ref]) => {
        try {
          // If one action cannot be folded, `loadAll` fails for all, so each is loaded by itself.
          const folded = await together.catch(async () => ({ [id]: await this.gate.streams.load(ref) }));
          const { state } = folded[id] as Folded<Action>;
          return { id, isRecovered: await this.lookAt(id, state, sweep), error: null };
        } catch (error) {
          return { id, isRecovered: false, error };
        }
      }),
    );
    const away = results.flatMap(({ error }) => (isStoreAway(error) ? [error] : []));
    if (away[0] && away.length === page.length) throw away[0];
    for (const { id, error } of results) if (error !== null) this.report(id, error, sweep);
    return results.filter(({ isRecovered }) => isRecovered).length;
  }

  private remember({ executors, claims, failed }: Sweep): void {
    this.executors = executors;
    this.failed = failed;
    this.watch.keepOnly(claims);
  }

  private report(id: ActionId, error: unknown, sweep: Sweep): void {
    sweep.failed.add(id);
    if (!this.failed.has(id)) this.logger.error('an execution could not be recovered', { action_id: id, error });
  }

  private async lookAt(id: ActionId, action: Action, sweep: Sweep): Promise<boolean> {
    if (!isLiving(action)) return false;
    if (awaitsReadBack(action)) return this.lookAtReadBack(id, action, sweep);
    return action.state === 'executing' && this.look(id, action, sweep);
  }

  /** The outcome is recorded, but its read-back is open, and the process that was to do it may be gone. */
  private lookAtReadBack(id: ActionId, action: LivingAction, sweep: Sweep): boolean {
    const attempt = action.attempts.at(-1);
    if (!attempt) return false;
    const { claim, executor } = attempt;
    const watched = `read-back ${claim}`;
    sweep.executors.add(executor);
    sweep.claims.add(watched);
    const watchedMs = this.watch.see(watched, this.gate.clock.monotonicMs());
    if (this.runs.executor.holds(claim)) return false;
    const longestMs = longestReadBackMs(action.ready?.timeoutMs ?? 0) + this.gate.settings.executorSilenceMs;
    const isLost = this.runs.executor.hasDropped(claim) || this.silence.isSilent(executor) || watchedMs > longestMs;
    return isLost && this.takeovers.beginReadBack(action.submission, id, sweep.signal);
  }

  private async look(id: ActionId, action: LivingAction, sweep: Sweep): Promise<boolean> {
    const attempt = currentAttempt(action);
    if (!action.ready) return false;
    if (!attempt) return this.startOrExpire(id, action, this.gate.clock.nowMs());
    sweep.executors.add(attempt.executor);
    sweep.claims.add(attempt.claim);
    const watchedMs = this.watch.see(attempt.claim, this.gate.clock.monotonicMs());
    // This process is still running the claim, or waits for the store to record its outcome.
    if (this.runs.executor.holds(attempt.claim)) return false;
    return this.recover(id, action, attempt, { watchedMs, signal: sweep.signal });
  }

  private async recover(
    id: ActionId,
    action: LivingAction,
    attempt: ExecutionAttempt,
    { watchedMs, signal }: { readonly watchedMs: number; readonly signal: AbortSignal | undefined },
  ): Promise<boolean> {
    const { claim } = attempt;
    const isWithdrawn = this.runs.executor.hasWithdrawn(claim);
    const hasDropped = this.runs.executor.hasDropped(claim);
    if (isWithdrawn && attempt.attempt === 1) {
      await this.runs.executor.recordNothingSent(id, attempt);
      return true;
    }
    const isExecutorSilent = isWithdrawn || hasDropped || this.silence.isSilent(attempt.executor);
    const lastingMs = remainingAtClaimMs(action, attempt);
    const isPastDeadline = watchedMs >= lastingMs;
    // A living executor ends its call at the deadline by itself. The extra time lets it record the outcome.
    const isOverdue = watchedMs > lastingMs + this.gate.settings.executorSilenceMs;
    if (!isExecutorSilent && !isOverdue) return false;
    const now = timestampOf(this.gate.clock.nowMs());
    if (!isPastDeadline && isRepeatableNow(action, now)) {
      return this.takeovers.begin(action.submission, id, attempt, signal);
    }
    const lost = { claim, isExecutorSilent, isPastDeadline };
    if (progressOf(action, attempt.attempt) !== null) {
      const settled = (): Promise<void> => this.runs.executor.settleLost(id, lost);
      return this.takeovers.beginSettling(action.submission, id, settled, signal);
    }
    this.logger.warn('an execution lost its executor and is given up', { action_id: id, attempt: attempt.attempt });
    const metadata = this.metadata(action, `give-up:${claim}`);
    const command = { type: 'GiveUpExecution' as const, data: lost, metadata };
    const { events } = await this.gate.runner.run(actionDecider, id, command, metadata);
    // The read-back starts at once, because the next sweep is seconds away.
    if (events.length > 0 && action.ready?.hasReadBack === true) {
      this.takeovers.beginReadBack(action.submission, id, signal);
    }
    return events.length > 0;
  }

  /**
   * For an execution that was never claimed, because its job was lost or no place was free: takes it up, or ends it
   * after `start_by`. It is not queued again, because the queue may be down, and because every sweep of every process
   * would queue the same actions again.
   */
  private async startOrExpire(id: ActionId, action: LivingAction, nowMs: number): Promise<boolean> {
    if (nowMs < Date.parse(action.ready?.startBy ?? action.createdAt)) {
      this.takeUp(id);
      return true;
    }
    const metadata = this.metadata(action, `expire-start:${id}`);
    const command = { type: 'ExpireStart' as const, data: {}, metadata };
    return (await this.gate.runner.run(actionDecider, id, command, metadata)).events.length > 0;
  }

  /** Starts the execution without waiting for it, because an upstream may hang. */
  private takeUp(id: ActionId): void {
    this.runs.places.takeUp(id).catch((error: unknown) => {
      this.logger.error('an execution could not be taken up; the next sweep comes again', { action_id: id, error });
    });
  }

  private metadata({ submission }: LivingAction, commandId: string): CommandMetadata {
    const now = timestampOf(this.gate.clock.nowMs());
    return { org: submission.org, actor: SYSTEM, requestId: null, commandId, correlation: submission.action, now };
  }
}
