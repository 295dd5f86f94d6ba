import type { ExecutionSweeper, Liveness } from '#libs/domain/gate';
import type { Logger, Meter } from '#libs/domain/kernel';
import { RepeatedFault } from '#libs/infra/logging';

export interface RecoverySettings {
  readonly livenessIntervalMs: number;
  readonly sweepIntervalMs: number;
}

/**
 * Writes this process's beats, watches those of other processes, and sweeps every 5 seconds (rule GATE-16). If an
 * executor has become silent it also sweeps at once; otherwise its executions would wait for the next sweep, and their
 * clients up to five seconds longer. Every process that executes runs one loop.
 */
export class RecoveryLoop {
  private beating: NodeJS.Timeout | null = null;
  private sweeping: NodeJS.Timeout | null = null;
  private readonly stopsSweeping = new AbortController();
  private readonly underWay = new Set<Promise<void>>();
  private isSweeping = false;
  /** Whether to sweep again as soon as the current sweep is over. */
  private isDue = false;
  private readonly unwritten = this.repeated('a beat could not be written');
  private readonly unswept = this.repeated('a sweep failed');

  constructor(
    private readonly executorId: string,
    private readonly liveness: Liveness,
    private readonly sweeper: Pick<ExecutionSweeper, 'observe' | 'sweep'>,
    private readonly settings: RecoverySettings,
    private readonly watchers: { readonly logger: Logger; readonly meter: Meter },
  ) {}

  /** Resolves after the first beat is written. The process must not claim executions before. */
  async start(): Promise<void> {
    await this.liveness.beat(this.executorId);
    // Beats do not wait for each other, so that one that hangs does not make this process look dead.
    this.beating = setInterval(() => this.run(this.unwritten, () => this.beat()), this.settings.livenessIntervalMs);
    this.sweeping = setInterval(() => this.sweepOnce(), this.settings.sweepIntervalMs);
    this.run(this.unwritten, () => this.observe());
    this.sweepOnce();
  }

  /** Requests a sweep, because of a change that the last or current sweep may have missed. */
  sweepSoon(): void {
    if (this.isSweeping) this.isDue = true;
    else if (!this.stopsSweeping.signal.aborted) this.sweepOnce();
  }

  /**
   * Stops recovering executions of other processes. The beats continue, because this process's own executions may still
   * run.
   */
  stopSweeping(): void {
    if (this.sweeping) clearInterval(this.sweeping);
    this.stopsSweeping.abort();
  }

  /**
   * Waits for beats and sweeps under way before it removes the row, because a later beat would create the row again.
   */
  async stop(): Promise<void> {
    this.stopSweeping();
    if (this.beating) clearInterval(this.beating);
    await Promise.all(this.underWay);
    await this.liveness.remove(this.executorId);
  }

  private async beat(): Promise<void> {
    await this.liveness.beat(this.executorId);
    await this.observe();
  }

  private async observe(): Promise<void> {
    if (await this.sweeper.observe()) this.sweepSoon();
  }

  private sweepOnce(): void {
    // No second sweep runs beside a slow one.
    if (this.isSweeping) return this.watchers.meter.sweepEnded('crash_recovery', 'skipped');
    this.isSweeping = true;
    this.run(this.unswept, () => this.sweep());
  }

  private async sweep(): Promise<void> {
    const { meter } = this.watchers;
    try {
      await this.sweeper.sweep(this.stopsSweeping.signal);
      meter.sweepEnded('crash_recovery', 'done');
    } catch (error) {
      meter.sweepEnded('crash_recovery', 'error');
      throw error;
    } finally {
      this.isSweeping = false;
      if (this.isDue) this.sweepSoon();
      this.isDue = false;
    }
  }

  private run(fault: RepeatedFault, work: () => Promise<unknown>): void {
    const running = this.quietly(fault, work).finally(() => this.underWay.delete(running));
    this.underWay.add(running);
  }

  private async quietly(fault: RepeatedFault, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
      fault.over();
    } catch (error) {
      fault.met(error);
    }
  }

  private repeated(message: string): RepeatedFault {
    return new RepeatedFault((fault) => this.watchers.logger.error(message, fault));
  }
}
