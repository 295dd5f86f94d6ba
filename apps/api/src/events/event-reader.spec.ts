import { publicIdOf } from '#libs/domain/events';
import { StoreUnavailable, type OrgId } from '#libs/domain/kernel';
import { InProcessBus } from '#libs/infra/runtime';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { testId, testTime } from '../../../../test/support/given-log.js';
import { silentLogger } from '../../../../test/support/silent-logger.js';
import type { FedEvent, FeedReader, ReadEvent } from './event-feed.js';
import { KEPT_MS } from './event-feed.js';
import { EventFilter } from './event-filter.js';
import { EventReader } from './event-reader.js';

const [ONE, TWO] = [testId('org', 1), testId('org', 2)];

/** A table of public events, and how far it is. */
class Table {
  rows: ReadEvent[] = [];
  upTo = -1n;
  floor = 0n;
  readonly asked: (readonly OrgId[])[] = [];
  fault: Error | null = null;
  /** Runs after the reach was told, before rows are. */
  meanwhile: () => Promise<void> = () => Promise.resolve();

  add(org: OrgId, seq: number): void {
    const thin = { object: 'action', id: testId('act', seq) };
    const about = {
      type: 'action.created',
      agent: null,
      livemode: true,
      trace: null,
      thin,
      at: testTime(seq),
    } as const;
    this.rows.push({ seq: String(seq), evt: publicIdOf(String(seq)), org, ...about });
    this.upTo = BigInt(seq);
  }

  async reach(): Promise<{ upTo: bigint; floor: bigint }> {
    const { upTo, floor } = this;
    if (this.fault) throw this.fault;
    await Promise.resolve();
    return { upTo, floor };
  }

  async between(orgs: readonly OrgId[], after: bigint, upTo: bigint, limit: number): Promise<readonly ReadEvent[]> {
    this.asked.push(orgs);
    const fits = ({ seq, org }: ReadEvent): boolean =>
      orgs.includes(org) && BigInt(seq) > after && BigInt(seq) <= upTo && BigInt(seq) >= this.floor;
    const found = this.rows.filter(fits).slice(0, limit);
    await this.meanwhile();
    return found;
  }
}

class Listener implements FeedReader {
  readonly filter = new EventFilter(null, null, null);
  readonly heard: number[] = [];
  resyncs = 0;

  offer({ seq }: FedEvent): void {
    this.heard.push(Number(seq));
  }

  passOver(): void {
    // It shows everything.
  }

  doubt(): void {
    // Not asked about here.
  }

  resync(): void {
    this.resyncs += 1;
  }
}

let table: Table;
let head: bigint;
let nowMs: number;
let bus: InProcessBus;
let reader: EventReader;
const hydration = { of: vi.fn(() => Promise.resolve(new Map())) };

beforeEach(() => {
  table = new Table();
  head = -1n;
  nowMs = 0;
  bus = new InProcessBus(silentLogger);
  hydration.of.mockClear();
  const store = { storeId: () => Promise.resolve('store'), head: () => Promise.resolve(head) };
  const sources = { reads: table, store, bus, clock: { monotonicMs: () => nowMs }, log: silentLogger };
  reader = new EventReader(sources, hydration, 'abc');
});
afterEach(() => reader.stop());

const listen = async (org: OrgId): Promise<Listener> => {
  const listener = new Listener();
  (await reader.feedOf(org)).join(listener);
  return listener;
};
const record = (org: OrgId, ...seqs: readonly number[]): void => {
  for (const seq of seqs) table.add(org, seq);
  head = BigInt(seqs.at(-1) ?? 0);
  bus.publish('public_events', '');
};
const heard = (listener: Listener, ...seqs: readonly number[]): Promise<void> =>
  vi.waitFor(() => expect(listener.heard).toEqual(seqs), { timeout: 20_000, interval: 5 });

describe('the reader of events', () => {
  it('tells each organization its own, from the moment on in which somebody listens', async () => {
    record(ONE, 1, 2);
    const one = await listen(ONE);
    record(ONE, 3);
    await heard(one, 3);
    const two = await listen(TWO);
    record(TWO, 4);
    record(ONE, 5);
    await heard(one, 3, 5);
    await heard(two, 4);
  });

  it('reads for organizations that somebody listens to, and for no other', async () => {
    const one = await listen(ONE);
    record(TWO, 1);
    record(ONE, 2);
    await heard(one, 2);
    expect(table.asked.every((orgs) => orgs.length === 1 && orgs[0] === ONE)).toBe(true);
  });

  it('finds without a bell what is there, when it looks next', async () => {
    const one = await listen(ONE);
    table.add(ONE, 1);
    await heard(one, 1);
  });

  it('tells in order what fills many readings', async () => {
    const one = await listen(ONE);
    const all = Array.from({ length: 1_000 }, (_, index) => index + 1);
    record(ONE, ...all);
    await heard(one, ...all);
    expect(table.asked.length).toBeGreaterThanOrEqual(4);
  });

  it('loses nothing of whoever joins while it reads, and tells nothing of before', async () => {
    const one = await listen(ONE);
    const joined: Listener[] = [];
    table.meanwhile = async () => {
      table.meanwhile = () => Promise.resolve();
      const two = await listen(TWO);
      joined.push(two);
      // Recorded after it listens, and before the reading under way has ended.
      record(TWO, 8);
    };
    record(TWO, 6);
    record(ONE, 7);
    await heard(one, 7);
    await heard(joined[0] as Listener, 8);
    // The one before was never read for it: whoever comes back from there is told so.
    const feed = await reader.feedOf(TWO);
    expect([feed.behind(5n, 0), feed.behind(7n, 0)?.length]).toEqual([null, 1]);
  });

  it('goes on after a fault where it stopped, with nothing twice', async () => {
    const one = await listen(ONE);
    record(ONE, 1);
    await heard(one, 1);
    table.fault = new StoreUnavailable('away');
    record(ONE, 2);
    await vi.waitFor(() => expect(table.fault).not.toBeNull(), { timeout: 20_000 });
    table.fault = null;
    bus.publish('public_events', '');
    await heard(one, 1, 2);
  });

  it('says that events may be missed where rows went before it read them', async () => {
    const one = await listen(ONE);
    record(ONE, 1);
    await heard(one, 1);
    head = 100n;
    table.upTo = 100n;
    table.floor = 90n;
    bus.publish('public_events', '');
    await vi.waitFor(() => expect(one.resyncs).toBe(1), { timeout: 20_000 });
    record(ONE, 101);
    await heard(one, 1, 101);
    expect(one.resyncs).toBe(1);
  });

  it('says so where the log lost its end, and reads on from there', async () => {
    const one = await listen(ONE);
    record(ONE, 5);
    await heard(one, 5);
    [head, table.upTo, table.rows] = [2n, 2n, []];
    bus.publish('public_events', '');
    await vi.waitFor(() => expect(one.resyncs).toBe(1), { timeout: 20_000 });
    record(ONE, 3);
    await heard(one, 5, 3);
  });

  it('says nothing where rows are only made anew: what was told stays told', async () => {
    const one = await listen(ONE);
    record(ONE, 1, 2);
    await heard(one, 1, 2);
    table.upTo = 0n;
    bus.publish('public_events', '');
    record(ONE, 3);
    await heard(one, 1, 2, 3);
    expect(one.resyncs).toBe(0);
  });

  it('hydrates for those who listen, and for nobody where nobody does', async () => {
    const feed = await reader.feedOf(ONE);
    const listener = new Listener();
    const leave = feed.join(listener);
    record(ONE, 1);
    await heard(listener, 1);
    leave(0);
    record(ONE, 2);
    await vi.waitFor(() => expect(feed.behind(1n, 0)).toHaveLength(1), { timeout: 20_000 });
    expect(hydration.of.mock.calls).toMatchObject([
      [ONE, [{ seq: '1' }]],
      [ONE, []],
    ]);
  });

  it('reads no more once nobody can come back, and begins anew for the next', async () => {
    const left = vi.fn();
    const { subscribe } = bus;
    vi.spyOn(bus, 'subscribe').mockImplementation((...asked) => {
      const leave = subscribe.apply(bus, asked);
      return () => [leave(), left()];
    });
    const feed = await reader.feedOf(ONE);
    feed.join(new Listener())(0);
    nowMs = KEPT_MS + 1;
    await vi.waitFor(() => expect(left).toHaveBeenCalledTimes(1), { timeout: 5_000 });
    expect(await reader.feedOf(ONE)).not.toBe(feed);
    const one = await listen(ONE);
    record(ONE, 1);
    await heard(one, 1);
  });

  it('is refused where it has stopped', async () => {
    await reader.stop();
    await expect(reader.feedOf(ONE)).rejects.toMatchObject({ code: 'service_unavailable' });
  });
});
