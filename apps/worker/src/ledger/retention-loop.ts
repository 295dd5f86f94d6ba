import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger, OrgId } from '#libs/domain/kernel';
import type { PayloadRetention } from '#libs/domain/ledger';

export interface RetentionParts {
  readonly retention: Pick<PayloadRetention, 'removeBatch'>;
  /** All organizations that may have bodies. */
  readonly organizations: () => Promise<readonly OrgId[]>;
  readonly logger: Logger;
}

export interface RetentionSettings {
  /** The pause between the end of a round and the next one. */
  readonly intervalMs: number;
  /** The pause after each batch, so that removal never competes with the calls that people wait for. */
  readonly batchPauseMs: number;
  /** The pause after an organization of which nothing is due, because a round asks for every organization. */
  readonly lookPauseMs: number;
}

const DEFAULTS: RetentionSettings = { intervalMs: 5 * 60 * 1000, batchPauseMs: 200, lookPauseMs: 5 };

/**
 * Goes through all organizations at once when it begins and then at intervals, as long as the process holds the lease.
 */
export class RetentionLoop {
  constructor(
    private readonly parts: RetentionParts,
    private readonly settings: RetentionSettings = DEFAULTS,
  ) {}

  /** Runs until `held` is aborted, and ends after the batch under way. */
  async run(held: AbortSignal): Promise<void> {
    while (!held.aborted) {
      await this.round(held);
      await pause(this.settings.intervalMs, held);
    }
  }

  private async round(held: AbortSignal): Promise<void> {
    const { organizations, logger } = this.parts;
    try {
      for (const org of await organizations()) {
        if (held.aborted) return;
        await this.removeOf(org, held);
      }
    } catch (error) {
      logger.warn('retention was cut short; the next round goes on', { error });
    }
  }

  /** If the ledger of an organization cannot be read, only that organization keeps its bodies. */
  private async removeOf(org: OrgId, held: AbortSignal): Promise<void> {
    const { retention, logger } = this.parts;
    const { batchPauseMs, lookPauseMs } = this.settings;
    let [deeds, removed] = [0, 0];
    try {
      for (let hasMore = true; hasMore && !held.aborted;) {
        const batch = await retention.removeBatch(org);
        [deeds, removed, hasMore] = [deeds + batch.deeds, removed + batch.removed, batch.hasMore];
        await pause(batch.deeds === 0 ? lookPauseMs : batchPauseMs, held);
      }
    } catch (error) {
      logger.warn('bodies whose days are over could not be removed; the next round goes on', { org, error });
    }
    if (deeds > 0) logger.debug('retention removed bodies', { org, deeds, removed });
  }
}

const pause = (delayMs: number, held: AbortSignal): Promise<void> =>
  sleep(delayMs, undefined, { signal: held }).catch((error: unknown) => {
    if (!held.aborted) throw error;
  });
