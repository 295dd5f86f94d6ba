import {
  type Logger,
  streamRef,
  SYSTEM,
  timestampOf,
  type ActionId,
  type CommandMetadata,
  type JobQueue,
} from '../../kernel/index.js';
import { actionDecider, isRepeatableNow } from '../action.decider.js';
import { currentAttempt, type LivingAction } from '../action.state.js';
import { ExecutorSilence } from '../executor-silence.js';
import type { GateKernel } from '../gate-kernel.js';
import type { Liveness, OpenExecutions } from '../recovery.ports.js';
import type { ActionExecutor } from './action-executor.js';

const SWEEP_LIMIT = 1_000;

export interface SweepResult {
  readonly open: number;
  readonly recovered: number;
}

/**
 * Crash recovery (document 1, sweepers): finds executions that nobody runs, and ends them honestly or starts them
 * again. Several sweepers may work at once; the event store lets one of them win each step.
 */
export class ExecutionSweeper {
  private readonly silence: ExecutorSilence;
  private lastSeen: readonly { action: ActionId; executor: string | null }[] = [];

  constructor(
    private readonly gate: GateKernel,
    private readonly open: OpenExecutions,
    private readonly liveness: Liveness,
    private readonly runs: { executor: ActionExecutor; queue: JobQueue },
    private readonly logger: Logger,
  ) {
    this.silence = new ExecutorSilence(gate.settings.executorSilenceMs);
  }

  /** Reads the beats; called as often as processes beat, so that silence is measured finely. */
  async observe(): Promise<void> {
    try {
      const beats = await this.liveness.read();
      const executors = this.lastSeen.flatMap(({ executor }) => (executor === null ? [] : [executor]));
      this.silence.observe(beats, executors, this.gate.clock.monotonicMs());
    } catch (error) {
      this.silence.startAgain();
      throw error;
    }
  }

  async sweep(): Promise<SweepResult> {
    const open = await this.open.list(SWEEP_LIMIT);
    const seen: { action: ActionId; executor: string | null }[] = [];
    let recovered = 0;
    for (const { action } of open) {
      const id = action as ActionId;
      const { state } = await this.gate.streams.load(streamRef(actionDecider, id));
      if (state.state !== 'executing') continue;
      seen.push({ action: id, executor: currentAttempt(state)?.executor ?? null });
      if (await this.recover(id, state)) recovered += 1;
    }
    this.lastSeen = seen;
    return { open: open.length, recovered };
  }

  private async recover(id: ActionId, action: LivingAction): Promise<boolean> {
    if (!action.ready) return false;
    const attempt = currentAttempt(action);
    const nowMs = this.gate.clock.nowMs();
    if (!attempt) return this.startOrExpire(id, action, nowMs);
    const isWithdrawn = this.runs.executor.hasWithdrawn(attempt.claim);
    if (isWithdrawn && attempt.attempt === 1) {
      await this.runs.executor.recordNothingSent(id, attempt);
      return true;
    }
    const isSilent = isWithdrawn || this.silence.isSilent(attempt.executor, this.gate.clock.monotonicMs());
    // A living executor ends its call at the deadline by itself; it is given time to write that down.
    const isOverdue = nowMs > Date.parse(attempt.deadline) + this.gate.settings.executorSilenceMs;
    if (!isSilent && !isOverdue) return false;
    const { claim } = attempt;
    this.logger.warn('an execution lost its executor', { action_id: id, attempt: attempt.attempt });
    if (isRepeatableNow(action, timestampOf(nowMs))) return this.runs.executor.claimAndRun(id, attempt);
    const metadata = this.metadata(action, `give-up:${claim}`);
    const command = { type: 'GiveUpExecution' as const, data: { claim, isExecutorSilent: isSilent }, metadata };
    return (await this.gate.runner.run(actionDecider, id, command, metadata)).events.length > 0;
  }

  /** Accepted, never claimed: the queue forgot it, or nobody took it in time. */
  private async startOrExpire(id: ActionId, action: LivingAction, nowMs: number): Promise<boolean> {
    if (nowMs < Date.parse(action.ready?.startBy ?? action.createdAt)) {
      await this.runs.queue.add('execute', id);
      return true;
    }
    const metadata = this.metadata(action, `expire-start:${id}`);
    const command = { type: 'ExpireStart' as const, data: {}, metadata };
    return (await this.gate.runner.run(actionDecider, id, command, metadata)).events.length > 0;
  }

  private metadata({ submission }: LivingAction, commandId: string): CommandMetadata {
    const now = timestampOf(this.gate.clock.nowMs());
    return { org: submission.org, actor: SYSTEM, requestId: null, commandId, correlation: submission.action, now };
  }
}
