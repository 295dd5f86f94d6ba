import type { Clock, WebhookId } from '../../kernel/index.js';
import type { Deliveries } from '../deliveries.port.js';

/** A process that lives and lost its connection to the database shows itself again within less. */
const ABSENT_MS = 1_500;

/**
 * Finds claims whose process is gone, long before they end by themselves: four of them are all that may be under way to an
 * endpoint, so it would hear nothing until then. A process is taken for gone when it was absent at every look over
 * {@link ABSENT_MS}; where it lives all the same, a receiver hears an event twice and nothing is lost. Whoever looks is
 * not gone: on a machine so busy that a process fails to show itself, it sends nothing of its own again.
 */
export class LostClaims {
  /** On the monotonic clock: when each was first found absent. */
  private absent: ReadonlyMap<string, number> = new Map();

  constructor(
    private readonly deliveries: Pick<Deliveries, 'absentClaimers' | 'endClaimsOf'>,
    private readonly clock: Clock,
    /** The `claimer` of what this process claims. */
    private readonly self: string,
  ) {}

  /** @returns the endpoints to which something is due by it */
  async end(): Promise<readonly WebhookId[]> {
    const found = await this.absentClaimers();
    const nowMs = this.clock.monotonicMs();
    this.absent = new Map(found.map((claimer) => [claimer, this.absent.get(claimer) ?? nowMs]));
    const due: WebhookId[] = [];
    for (const [claimer, sinceMs] of this.absent) {
      if (nowMs - sinceMs < ABSENT_MS) continue;
      due.push(...(await this.deliveries.endClaimsOf(claimer, this.clock.nowMs())));
    }
    return due;
  }

  private async absentClaimers(): Promise<readonly string[]> {
    try {
      const absent = await this.deliveries.absentClaimers(this.clock.nowMs());
      return absent.filter((claimer) => claimer !== this.self);
    } catch (error) {
      // What happened meanwhile is not known: a database that comes back has lost the connections of everybody.
      this.absent = new Map();
      throw error;
    }
  }
}
