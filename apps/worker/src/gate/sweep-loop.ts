import type { Logger, Meter, SweeperName } from '#libs/domain/kernel';
import { RepeatedFault } from '#libs/infra/logging';

/** One sweeper: its name in metrics, its work, and the log message for a failure. */
export interface Swept {
  readonly name: SweeperName;
  readonly fault: string;
  /** @param signal ends the sweep early */
  readonly sweep: (signal: AbortSignal) => Promise<unknown>;
}

/**
 * Runs one sweeper at an interval, every 5 seconds by default (rule GATE-16). Every worker runs one loop per sweeper.
 */
export class SweepLoop {
  private timer: NodeJS.Timeout | null = null;
  private underWay: Promise<void> | null = null;
  private readonly stopping = new AbortController();
  private readonly unswept: RepeatedFault;

  constructor(
    private readonly swept: Swept,
    private readonly intervalMs: number,
    private readonly watchers: { readonly logger: Logger; readonly meter: Meter },
  ) {
    this.unswept = new RepeatedFault((fault) => watchers.logger.error(swept.fault, fault));
  }

  start(): void {
    this.timer = setInterval(() => this.sweepOnce(), this.intervalMs);
    this.sweepOnce();
  }

  /** Starts no further sweep, and signals the sweep under way to end early. */
  stopSweeping(): void {
    if (this.timer) clearInterval(this.timer);
    this.stopping.abort();
  }

  async stop(): Promise<void> {
    this.stopSweeping();
    await this.underWay;
  }

  private sweepOnce(): void {
    const { name } = this.swept;
    // No second sweep runs beside a slow one.
    if (this.underWay) return this.watchers.meter.sweepEnded(name, 'skipped');
    this.underWay = this.sweep().finally(() => {
      this.underWay = null;
    });
  }

  private async sweep(): Promise<void> {
    const { name } = this.swept;
    try {
      await this.swept.sweep(this.stopping.signal);
      this.watchers.meter.sweepEnded(name, 'done');
      this.unswept.over();
    } catch (error) {
      this.watchers.meter.sweepEnded(name, 'error');
      this.unswept.met(error);
    }
  }
}
