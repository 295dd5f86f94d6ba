import { setTimeout as sleep } from 'node:timers/promises';
import type { ToolDiscoverySweeper } from '#libs/domain/connectors';
import type { Logger } from '#libs/domain/kernel';
import { RepeatedFault } from '#libs/infra/logging';

/** The pause between the end of a sweep and the next one. */
const INTERVAL_MS = 60_000;

/**
 * Has servers asked for their tools that nobody has asked, at once when it begins and then at intervals, as long as the
 * process holds the lease and goes on.
 */
export class DiscoveryLoop {
  private readonly stopping = new AbortController();
  private readonly unswept: RepeatedFault;

  constructor(
    private readonly sweeper: Pick<ToolDiscoverySweeper, 'sweep'>,
    logger: Logger,
    private readonly intervalMs = INTERVAL_MS,
  ) {
    this.unswept = new RepeatedFault((fault) =>
      logger.warn('servers could not be asked for their tools; the next sweep goes on', fault),
    );
  }

  /** Asks nobody more, also where the lease is still held. */
  takeUpNothingMore(): void {
    this.stopping.abort();
  }

  /**
   * Runs until `held` is aborted. A question under way is not waited for: what comes of it is recorded as a whole or not
   * at all, and whoever takes over asks again.
   */
  async run(held: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([held, this.stopping.signal]);
    const ended = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    while (!signal.aborted) {
      await Promise.race([this.sweep(signal), ended]);
      await sleep(this.intervalMs, undefined, { signal }).catch(() => undefined);
    }
  }

  private async sweep(signal: AbortSignal): Promise<void> {
    try {
      await this.sweeper.sweep(signal);
      this.unswept.over();
    } catch (error) {
      if (!signal.aborted) this.unswept.met(error);
    }
  }
}
