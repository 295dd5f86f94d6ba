import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger, OrgId } from '#libs/domain/kernel';
import type { PayloadRetention } from '#libs/domain/ledger';

export interface RetentionParts {
  readonly retention: Pick<PayloadRetention, 'removeBatch'>;
  /** All that may have bodies. */
  readonly organizations: () => Promise<readonly OrgId[]>;
  readonly logger: Logger;
}

export interface RetentionSettings {
  /** From the end of a round to the next. */
  readonly intervalMs: number;
  /** After each batch: removal never competes with the calls that people wait for. */
  readonly batchPauseMs: number;
  /** After each organization of which nothing is due: a round asks for every one. */
  readonly lookPauseMs: number;
}

const DEFAULTS: RetentionSettings = { intervalMs: 5 * 60 * 1000, batchPauseMs: 200, lookPauseMs: 5 };

/** Goes through all organizations at once when it begins, and then every so often, as long as it is held to. */
export class RetentionLoop {
  constructor(
    private readonly parts: RetentionParts,
    private readonly settings: RetentionSettings = DEFAULTS,
  ) {}

  /** Ends after the batch under way. */
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

  /** An organization whose ledger cannot be read keeps its bodies, and keeps nobody else's. */
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
