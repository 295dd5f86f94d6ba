import type { Logger, Meter, ReplayId } from '#libs/domain/kernel';
import { RepeatedFault } from '#libs/infra/logging';
import type { PostgresReplayRows, ReplayChild } from '#libs/infra/replays';

export interface ReplayLoopParts {
  readonly rows: Pick<PostgresReplayRows, 'unclaimed'>;
  readonly start: (id: ReplayId) => ReplayChild;
  readonly logger: Logger;
  readonly meter: Meter;
}

export interface ReplayLoopSettings {
  /** From one look at the rows to the next. */
  readonly intervalMs: number;
  /** After a child that did not end well: what is wrong may pass. */
  readonly patienceMs: number;
}

const DEFAULTS: ReplayLoopSettings = { intervalMs: 1_000, patienceMs: 5_000 };

/**
 * Has replays run that nobody runs, one child at a time: those that are queued, and those whose process was killed. Every
 * worker has one; of two that start the same, the claim lets one go on.
 */
export class ReplayLoop {
  private timer: NodeJS.Timeout | null = null;
  private looking: Promise<void> | null = null;
  private child: ReplayChild | null = null;
  private isStopping = false;
  private readonly unread: RepeatedFault;

  constructor(
    private readonly parts: ReplayLoopParts,
    private readonly settings: ReplayLoopSettings = DEFAULTS,
  ) {
    this.unread = new RepeatedFault((fault) => parts.logger.error('replays could not be looked for', fault));
  }

  start(): void {
    this.lookAfter(0);
  }

  /** Starts no other; the child saves how far it came, and another process goes on from there. */
  takeUpNothingMore(): void {
    this.isStopping = true;
    if (this.timer) clearTimeout(this.timer);
    this.child?.stop();
  }

  /** Ends after the child. */
  async stop(): Promise<void> {
    this.takeUpNothingMore();
    await this.looking;
  }

  private lookAfter(delayMs: number): void {
    this.timer = setTimeout(() => {
      this.looking = this.look().then((wasWell) => {
        if (!this.isStopping) this.lookAfter(wasWell ? this.settings.intervalMs : this.settings.patienceMs);
      });
    }, delayMs);
  }

  /** @returns whether nothing went wrong */
  private async look(): Promise<boolean> {
    const id = await this.next();
    if (id === null || this.isStopping) return true;
    const { start, logger, meter } = this.parts;
    const child = (this.child = start(id));
    const exit = await child.ended;
    this.child = null;
    meter.jobEnded('replay', exit.isDone ? 'done' : 'error');
    if (!exit.isDone)
      logger.error('a replay was cut off; it goes on from where it was', { replay: id, said: exit.said });
    return exit.isDone;
  }

  private async next(): Promise<ReplayId | null> {
    try {
      const id = await this.parts.rows.unclaimed();
      this.unread.over();
      return id;
    } catch (error) {
      this.unread.met(error);
      return null;
    }
  }
}
