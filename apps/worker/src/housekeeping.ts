import { setTimeout as delay } from 'node:timers/promises';
import type { ConnectorHealthSweeper, CredentialSweeper, ToolDefinitionSweeper } from '#libs/domain/connectors';
import type { BudgetRows, IntentNonces, Liveness, PayloadSweeper } from '#libs/domain/gate';
import type { Logger, Meter } from '#libs/domain/kernel';
import type { IdempotencyStore } from '#libs/infra/idempotency';

export interface HousekeepingSettings {
  readonly intervalMs: number;
  /** Between two pages of payloads: removal never competes with the calls that people wait for. */
  readonly pagePauseMs: number;
}

/** A process that has not beaten for a day has ended, however it did. */
const FORGOTTEN_AFTER_MS = 24 * 60 * 60 * 1000;

const DEFAULTS: HousekeepingSettings = { intervalMs: 5 * 60 * 1000, pagePauseMs: 200 };

/** What a round tidies, each part by itself. */
export interface HousekeepingParts {
  /** What calls held of budgets in periods that are over. */
  readonly budgets: { removeEnded(): ReturnType<BudgetRows['removeEnded']> };
  /** Results of tests of connectors that are gone. */
  readonly connectorHealth: Pick<ConnectorHealthSweeper, 'sweep'>;
  readonly credentials: Pick<CredentialSweeper, 'sweep'>;
  readonly idempotency: Pick<IdempotencyStore, 'purge'>;
  readonly liveness: Pick<Liveness, 'removeForgotten'>;
  /** Of signed intents that no check accepts any more. */
  readonly nonces: { removeExpired(): ReturnType<IntentNonces['removeExpired']> };
  readonly payloads: Pick<PayloadSweeper, 'sweepPage'>;
  /** What servers said of tools that no connector names any more. */
  readonly toolDefinitions: Pick<ToolDefinitionSweeper, 'sweep'>;
  /** Secrets that sign no more, and deliveries that ended days ago. */
  readonly webhooks: { sweepSecrets(): Promise<number>; removeEnded(): Promise<number> };
  /** Sessions, tokens and mails that ended a day ago. */
  readonly people: { purge(): Promise<number> };
}

/** Removes rows that nothing needs any more. Every worker may do so: each removal is safe to repeat. */
export class Housekeeping {
  private timer: NodeJS.Timeout | null = null;
  private underWay: Promise<void> | null = null;
  private isStopping = false;

  constructor(
    private readonly parts: HousekeepingParts,
    private readonly watchers: { readonly logger: Logger; readonly meter: Meter },
    private readonly settings: HousekeepingSettings = DEFAULTS,
  ) {}

  start(): void {
    this.timer = setInterval(() => this.tidyOnce(), this.settings.intervalMs);
  }

  /** Ends after the removal under way. */
  async stop(): Promise<void> {
    if (this.timer) clearInterval(this.timer);
    this.isStopping = true;
    await this.underWay;
  }

  private tidyOnce(): void {
    // A long round is not overtaken by the next one.
    if (this.underWay) return this.watchers.meter.sweepEnded('idempotency_release', 'skipped');
    this.underWay = this.tidy().finally(() => {
      this.underWay = null;
    });
  }

  private async tidy(): Promise<void> {
    const { budgets, connectorHealth, credentials, idempotency, liveness, nonces, people, webhooks } = this.parts;
    const { toolDefinitions } = this.parts;
    await this.remove('credential versions', () => credentials.sweep());
    await this.remove('tests of removed connectors', () => connectorHealth.sweep());
    await this.remove('definitions of tools', () => toolDefinitions.sweep());
    await this.remove('idempotency keys', () => this.counted(idempotency.purge()));
    await this.remove('beats of ended processes', () => liveness.removeForgotten(FORGOTTEN_AFTER_MS));
    await this.remove('nonces of expired intents', () => nonces.removeExpired());
    await this.remove('budgets of ended periods', () => budgets.removeEnded());
    await this.remove('ended sessions and mails', () => people.purge());
    await this.remove('secrets of webhooks', () => webhooks.sweepSecrets());
    await this.remove('webhook deliveries', () => webhooks.removeEnded());
    await this.remove('payloads', () => this.sweepPayloads());
  }

  /** One kind of row that cannot be removed at the moment does not keep the others. */
  private async remove(rows: string, work: () => Promise<number>): Promise<void> {
    if (this.isStopping) return;
    try {
      this.watchers.logger.debug('housekeeping removed rows', { rows, removed: await work() });
    } catch (error) {
      this.watchers.logger.warn('housekeeping was cut short; the next round goes on', { rows, error });
    }
  }

  private async counted(release: Promise<number>): Promise<number> {
    const { meter } = this.watchers;
    try {
      const removed = await release;
      meter.sweepEnded('idempotency_release', 'done');
      return removed;
    } catch (error) {
      meter.sweepEnded('idempotency_release', 'error');
      throw error;
    }
  }

  private async sweepPayloads(): Promise<number> {
    let removed = 0;
    for (;;) {
      const page = await this.parts.payloads.sweepPage();
      removed += page.removed;
      if (page.hasMore && !this.isStopping) await delay(this.settings.pagePauseMs);
      if (!page.hasMore || this.isStopping) return removed;
    }
  }
}
