import type { DueActionSweeper } from '#libs/domain/gate';
import type { Logger, Meter } from '#libs/domain/kernel';
import { RepeatedFault } from '#libs/infra/logging';

/** Ends what is due, every so often (document 1: every 5 seconds). Every worker runs one. */
export class DueLoop {
  private timer: NodeJS.Timeout | null = null;
  private underWay: Promise<void> | null = null;
  private readonly stopping = new AbortController();
  private readonly unswept: RepeatedFault;

  constructor(
    private readonly sweeper: Pick<DueActionSweeper, 'sweep'>,
    private readonly intervalMs: number,
    private readonly watchers: { readonly logger: Logger; readonly meter: Meter },
  ) {
    this.unswept = new RepeatedFault((fault) => watchers.logger.error('a sweep of what is due failed', fault));
  }

  start(): void {
    this.timer = setInterval(() => this.sweepOnce(), this.intervalMs);
    this.sweepOnce();
  }

  /** Begins no other sweep; the one under way ends after its page. */
  stopSweeping(): void {
    if (this.timer) clearInterval(this.timer);
    this.stopping.abort();
  }

  async stop(): Promise<void> {
    this.stopSweeping();
    await this.underWay;
  }

  private sweepOnce(): void {
    // A slow sweep is not overtaken by the next one.
    if (this.underWay) return this.watchers.meter.sweepEnded('approval_expiry', 'skipped');
    this.underWay = this.sweep().finally(() => {
      this.underWay = null;
    });
  }

  private async sweep(): Promise<void> {
    try {
      await this.sweeper.sweep(this.stopping.signal);
      this.watchers.meter.sweepEnded('approval_expiry', 'done');
      this.unswept.over();
    } catch (error) {
      this.watchers.meter.sweepEnded('approval_expiry', 'error');
      this.unswept.met(error);
    }
  }
}
