import { setTimeout as sleep } from 'node:timers/promises';
import { type EventStore, idInStream, type Logger, type Meter, type OrgId, streamOf } from '#libs/domain/kernel';
import { type WitnessAsking, witnessPolicyDecider, type WitnessWatch } from '#libs/domain/ledger';
import { RepeatedFault } from '#libs/infra/logging';

/** The pause before a pass: as long as a new checkpoint waits for its witnesses at most, where nothing failed. */
const INTERVAL_MS = 15_000;
/** Policies whose heads are asked for at once. */
const HEADS_AT_ONCE = 500;
/** Organizations whose witnesses are asked at once: one that drips holds up nobody else's. */
const ORGANIZATIONS_AT_ONCE = 32;

export interface WitnessLoopParts {
  readonly asking: Pick<WitnessAsking, 'begin'>;
  readonly store: Pick<EventStore, 'heads'>;
  readonly organizations: () => Promise<readonly OrgId[]>;
  readonly watch: Pick<WitnessWatch, 'ageMs'>;
  readonly logger: Logger;
  readonly meter: Meter;
}

/**
 * Asks the witnesses of every organization that has some, at intervals, as long as the process holds the lease. Nothing waits
 * for it. What two processes ask at once is answered twice, and recorded once.
 */
export class WitnessLoop {
  private readonly underWay = new Map<OrgId, Promise<void>>();
  private readonly unasked: RepeatedFault;

  constructor(
    private readonly parts: WitnessLoopParts,
    private readonly intervalMs = INTERVAL_MS,
  ) {
    this.unasked = new RepeatedFault((fault) =>
      parts.logger.warn('witnesses could not be asked; the next pass goes on', fault),
    );
  }

  /** Runs until `held` is aborted. What is being asked then is answered to nobody, and asked again by whoever comes next. */
  async run(held: AbortSignal): Promise<void> {
    for (;;) {
      await sleep(this.intervalMs, undefined, { signal: held }).catch((error: unknown) => {
        if (!held.aborted) throw error;
      });
      if (held.aborted) break;
      await this.pass(held);
    }
    // Whoever has the lease now tells it.
    this.parts.meter.ledgersWitnessed(0);
  }

  /** Begins to ask whoever is to be asked. */
  async pass(held: AbortSignal): Promise<void> {
    try {
      let longest = 0;
      for (const org of await this.witnessed()) {
        if (held.aborted) return;
        longest = Math.max(longest, await this.parts.watch.ageMs(org));
        if (this.underWay.has(org)) continue;
        while (this.underWay.size >= ORGANIZATIONS_AT_ONCE) await Promise.race(this.underWay.values());
        const asked = this.ask(org).finally(() => this.underWay.delete(org));
        this.underWay.set(org, asked);
      }
      this.parts.meter.ledgersWitnessed(longest);
    } catch (error) {
      this.unasked.met(error);
    }
  }

  /** When nobody is being asked any more. */
  async idle(): Promise<void> {
    await Promise.all(this.underWay.values());
  }

  private async ask(org: OrgId): Promise<void> {
    try {
      await Promise.all((await this.parts.asking.begin(org)).map(({ done }) => done));
      this.unasked.over();
    } catch (error) {
      this.unasked.met(error);
    }
  }

  /** Organizations that ever had a policy. */
  private async witnessed(): Promise<readonly OrgId[]> {
    const { organizations, store } = this.parts;
    const [all, witnessed] = [await organizations(), [] as OrgId[]];
    for (let first = 0; first < all.length; first += HEADS_AT_ONCE) {
      const streams = all
        .slice(first, first + HEADS_AT_ONCE)
        .map((org) => streamOf(witnessPolicyDecider.category, org));
      witnessed.push(...[...(await store.heads(streams)).keys()].map((stream) => idInStream(stream) as OrgId));
    }
    return witnessed;
  }
}
