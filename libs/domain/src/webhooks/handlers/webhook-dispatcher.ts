import type { WebhookId } from '../../kernel/index.js';
import type { Deliveries } from '../deliveries.port.js';
import { IN_FLIGHT_MAX } from '../delivery-attempts.js';
import type { WebhookSender } from './webhook-sender.js';

/** How many deliveries this process has under way at once, of all endpoints. */
const UNDER_WAY_MAX = 256;
/** Claims that are asked for at once: each waits for the database. */
const CLAIMS_AT_ONCE = 4;
/**
 * Takes up deliveries whenever it is rung for an endpoint, and again when one of its deliveries has ended. Endpoints take
 * turns: those whose receivers hang keep no other one waiting for longer than its turn.
 */
export class WebhookDispatcher {
  private readonly waiting = new Set<WebhookId>();
  private readonly underWay = new Set<Promise<void>>();
  private claiming = 0;
  private isClosed = false;

  constructor(
    private readonly sender: Pick<WebhookSender, 'send' | 'termsOf'>,
    private readonly deliveries: Pick<Deliveries, 'claim'>,
    private readonly faults: { met(error: unknown): void; over(): void },
    private readonly underWayMax = UNDER_WAY_MAX,
  ) {}

  /** Something may be due to this endpoint. */
  ring(webhook: WebhookId): void {
    this.waiting.add(webhook);
    this.takeUp();
  }

  /** Takes up nothing more. */
  close(): void {
    this.isClosed = true;
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    while (this.underWay.size > 0) await Promise.all(this.underWay);
  }

  private takeUp(): void {
    while (!this.isClosed && this.hasRoom()) {
      const [webhook] = this.waiting;
      if (webhook === undefined) return;
      this.waiting.delete(webhook);
      this.claiming += 1;
      this.run(this.claim(webhook));
    }
  }

  private hasRoom(): boolean {
    return this.claiming < CLAIMS_AT_ONCE && this.underWay.size + this.claiming * IN_FLIGHT_MAX < this.underWayMax;
  }

  private async claim(webhook: WebhookId): Promise<void> {
    try {
      for (const delivery of await this.deliveries.claim(webhook, this.sender.termsOf(IN_FLIGHT_MAX))) {
        this.run(this.sender.send(delivery).finally(() => this.waiting.add(webhook)));
      }
    } finally {
      this.claiming -= 1;
    }
  }

  private run(work: Promise<void>): void {
    const running = this.watched(work).finally(() => {
      this.underWay.delete(running);
      this.takeUp();
    });
    this.underWay.add(running);
  }

  private async watched(work: Promise<void>): Promise<void> {
    try {
      await work;
      this.faults.over();
    } catch (error) {
      this.faults.met(error);
    }
  }
}
