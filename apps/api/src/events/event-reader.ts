import { PUBLIC_EVENTS_CHANNEL, START, type OrgId, type Position } from '#libs/domain/kernel';
import type { Bus, Clock, EventStore, Logger } from '#libs/domain/kernel';
import { RepeatedFault } from '#libs/infra/logging';
import type { PublicEventReads } from '#libs/infra/read-models';
import { CallEnd } from '#libs/infra/runtime';
import { Bell } from '../bell.js';
import { ShuttingDown } from '../http/drain.js';
import { EventFeed, FedEvent, type ReadEvent } from './event-feed.js';
import type { EventHydration } from './event-hydration.js';
import { grouped } from './grouped.js';

/** Without the bell: a lost one costs this much and nothing else. */
const READ_AGAIN_MS = 1_000;
/** Read, hydrated and told at a time: no more than a stream may be behind. */
const EVENTS_AT_ONCE = 256;

/** What the reader stands on. */
export interface EventSources {
  readonly reads: Pick<PublicEventReads, 'reach' | 'between'>;
  readonly store: Pick<EventStore, 'storeId' | 'head'>;
  readonly bus: Pick<Bus, 'subscribe'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Logger;
}

/**
 * Reads the public events once for all streams of a process, as long as anybody listens or may come back to what was told.
 * Each feed is told every event of its organization behind its begin, once and in order.
 */
export class EventReader {
  private readonly feeds = new Map<OrgId, EventFeed>();
  private readonly bell = new Bell();
  private readonly stopping = new CallEnd();
  private readonly unread: RepeatedFault;
  private beginning: Promise<void> | null = null;
  private reading: Promise<void> | null = null;
  private storeId = '';
  /** Every event up to here was told to those who listened. */
  private position: Position = START;
  /** Up to where the reading under way goes, which a feed that joins now has no part in. */
  private horizon: Position = START;
  private reached: Position = START;

  /** @param instance of the cursors that are given out */
  constructor(
    private readonly sources: EventSources,
    private readonly hydration: Pick<EventHydration, 'of'>,
    readonly instance: string,
  ) {
    this.unread = new RepeatedFault((fault) => sources.log.error('events could not be read', fault));
  }

  /**
   * The feed of an organization. Whoever joins it at once, before anything else is awaited, hears of all that is recorded
   * from then on.
   * @throws {StoreUnavailable} it could not be begun @throws {ShuttingDown}
   */
  async feedOf(org: OrgId): Promise<EventFeed> {
    while (this.reading === null) {
      if (this.stopping.aborted) throw new ShuttingDown();
      this.beginning ??= this.begin();
      await this.beginning;
    }
    const nowMs = this.sources.clock.monotonicMs();
    const feed = this.feeds.get(org) ?? new EventFeed(this.horizon, nowMs);
    // It is not forgotten before whoever asked for it has joined it.
    feed.keep(nowMs);
    this.feeds.set(org, feed);
    return feed;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    this.bell.ring();
    await this.reading;
  }

  /** From the end of the log on: what is older, whoever comes now reads in lists. */
  private async begin(): Promise<void> {
    try {
      const { store, clock } = this.sources;
      this.storeId = await store.storeId();
      this.position = await store.head();
      this.horizon = this.position;
      this.reached = START;
      // So that the first feed is there before the first look at what there is to do.
      this.reading = Promise.resolve().then(() => this.run(clock.monotonicMs()));
    } finally {
      this.beginning = null;
    }
  }

  private async run(begunAtMs: number): Promise<void> {
    const leave = this.sources.bus.subscribe(PUBLIC_EVENTS_CHANNEL, () => this.bell.ring());
    let isNeeded = true;
    for (let nowMs = begunAtMs; isNeeded && !this.stopping.aborted; nowMs = this.sources.clock.monotonicMs()) {
      await this.bell.rungWithin(READ_AGAIN_MS, this.stopping);
      this.bell.reset();
      await this.readOn();
      for (const [org, feed] of this.feeds) if (feed.isForgotten(nowMs)) this.feeds.delete(org);
      isNeeded = this.feeds.size > 0;
    }
    leave();
    this.reading = null;
  }

  private async readOn(): Promise<void> {
    try {
      let isMore = true;
      while (isMore && !this.stopping.aborted) isMore = await this.readSome();
      this.unread.over();
    } catch (error) {
      this.unread.met(error);
    }
  }

  /** @returns whether there is more to read at once */
  private async readSome(): Promise<boolean> {
    const { reads } = this.sources;
    const { upTo, floor } = await reads.reach(this.storeId);
    if (await this.isLost(upTo, floor)) {
      await this.beginAnew();
      return false;
    }
    if (upTo <= this.position) return false;
    // A feed that comes from here on begins behind what is read now.
    const orgs = [...this.feeds.keys()];
    this.horizon = upTo;
    const events = await reads.between(orgs, this.position, upTo, EVENTS_AT_ONCE);
    await this.tell(events);
    const isMore = events.length === EVENTS_AT_ONCE;
    this.position = isMore ? BigInt((events.at(-1) as ReadEvent).seq) : upTo;
    return isMore;
  }

  /** Whether rows went before they were read, or the log itself lost its end and goes on otherwise. */
  private async isLost(upTo: Position, floor: bigint): Promise<boolean> {
    if (floor > this.position + 1n) return true;
    const wentBack = upTo < this.reached;
    this.reached = upTo;
    return wentBack && (await this.sources.store.head()) < this.position;
  }

  private async beginAnew(): Promise<void> {
    this.position = await this.sources.store.head();
    this.horizon = this.position;
    for (const feed of this.feeds.values()) feed.beginAnew(this.position);
  }

  private async tell(events: readonly ReadEvent[]): Promise<void> {
    const told = [...grouped(events, ({ org }) => org)].map(async ([org, ofOrg]) => {
      const feed = this.feeds.get(org);
      const awaited = feed ? ofOrg.filter((event) => feed.awaits(event)) : [];
      const objects = await this.hydration.of(org, feed ? awaited.filter((event) => feed.isHydrated(event)) : []);
      const nowMs = this.sources.clock.monotonicMs();
      for (const event of awaited) {
        feed?.push(new FedEvent(event, objects.get(event.thin.id) ?? null, this.instance), nowMs);
      }
    });
    await Promise.all(told);
  }
}
