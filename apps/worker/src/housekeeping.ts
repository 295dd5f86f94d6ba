import type { CredentialSweeper } from '#libs/domain/connectors';
import type { Logger } from '#libs/domain/kernel';
import type { IdempotencyStore } from '#libs/infra/idempotency';

const INTERVAL_MS = 5 * 60 * 1000;

/** Removes rows that nothing needs any more. Every worker may do so: each removal is safe to repeat. */
export class Housekeeping {
  private timer: NodeJS.Timeout | null = null;
  private underWay: Promise<void> = Promise.resolve();

  constructor(
    private readonly credentials: CredentialSweeper,
    private readonly idempotency: IdempotencyStore,
    private readonly logger: Logger,
  ) {}

  start(): void {
    this.timer = setInterval(() => {
      this.underWay = this.tidy();
    }, INTERVAL_MS);
  }

  async stop(): Promise<void> {
    if (this.timer) clearInterval(this.timer);
    await this.underWay;
  }

  private async tidy(): Promise<void> {
    try {
      const credentials = await this.credentials.sweep();
      await this.idempotency.purge();
      this.logger.debug('housekeeping done', { credential_versions: credentials });
    } catch (error) {
      this.logger.warn('housekeeping was cut short; the next round goes on', { error });
    }
  }
}
