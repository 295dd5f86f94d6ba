import { setTimeout as delay } from 'node:timers/promises';
import type { EventStore, Logger } from '#libs/domain/kernel';
import { RepeatedFault } from '#libs/infra/logging';
import type { PublicEventPruning } from '#libs/infra/read-models';

const ROUND_MS = 60_000;

/** Lets public events go whose days are over, a round a minute, as long as this process projects. */
export class PublicEventKeeper {
  private readonly unremoved: RepeatedFault;

  constructor(
    private readonly store: Pick<EventStore, 'storeId'>,
    private readonly pruning: PublicEventPruning,
    log: Logger,
    private readonly roundMs = ROUND_MS,
  ) {
    this.unremoved = new RepeatedFault((fault) => log.warn('old public events could not be removed', fault));
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.round();
      try {
        await delay(this.roundMs, undefined, { signal });
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  }

  private async round(): Promise<void> {
    try {
      await this.pruning.prune(await this.store.storeId());
      this.unremoved.over();
    } catch (error) {
      this.unremoved.met(error);
    }
  }
}
