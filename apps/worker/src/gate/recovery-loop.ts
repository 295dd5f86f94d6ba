import type { ExecutionSweeper, Liveness } from '#libs/domain/gate';
import type { Logger, Meter } from '#libs/domain/kernel';
import { RepeatedFault } from '#libs/infra/logging';

export interface RecoverySettings {
  readonly livenessIntervalMs: number;
  readonly sweepIntervalMs: number;
}

/**
 * Beats, watches the beats of others, and sweeps every 5 seconds (rule GATE-16), besides at once where an executor has
 * fallen silent: what it left behind would otherwise wait for the next sweep, and a client for up to five seconds more.
 * Every process that executes runs one.
 */
export class RecoveryLoop {
  private beating: NodeJS.Timeout | null = null;
  private sweeping: NodeJS.Timeout | null = null;
  private readonly stopsSweeping = new AbortController();
  private readonly underWay = new Set<Promise<void>>();
  private isSweeping = false;
  /** Once more, when the sweep under way is over. */
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

  /** The first beat is written before anything may be claimed. */
  async start(): Promise<void> {
    await this.liveness.beat(this.executorId);
    // One beat that hangs must not keep the next from showing that the process lives.
    this.beating = setInterval(() => this.run(this.unwritten, () => this.beat()), this.settings.livenessIntervalMs);
    this.sweeping = setInterval(() => this.sweepOnce(), this.settings.sweepIntervalMs);
    this.run(this.unwritten, () => this.observe());
    this.sweepOnce();
  }

  /** Something is there that the last sweep cannot have seen. */
  sweepSoon(): void {
    if (this.isSweeping) this.isDue = true;
    else if (!this.stopsSweeping.signal.aborted) this.sweepOnce();
  }

  /** Takes up nothing more that others have lost. The beats go on: this process's own executions do. */
  stopSweeping(): void {
    if (this.sweeping) clearInterval(this.sweeping);
    this.stopsSweeping.abort();
  }

  /** Waits for what is under way: a beat that ended after the removal would leave the row for good. */
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
    // A slow sweep is not overtaken by the next one.
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
