import { PUBLIC_EVENT_TYPES, publicIdOf, type PublicEventType } from '#libs/domain/events';
import type { AgentId } from '#libs/domain/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TEST_ORG, testId, testTime } from '../../../../test/support/given-log.js';
import { EventFeed, FedEvent, KEPT_MS, type FeedReader } from './event-feed.js';
import { EventFilter } from './event-filter.js';

const AGENTS = [null, testId('agt', 1), testId('agt', 2)] as const;
const EVERYTHING = new EventFilter(null, null, null);

const eventOf = (seq: number, type: PublicEventType = 'action.created', agent: AgentId | null = null): FedEvent =>
  new FedEvent(
    {
      seq: String(seq),
      evt: publicIdOf(String(seq)),
      org: TEST_ORG,
      type,
      agent,
      livemode: true,
      trace: null,
      thin: { object: 'action', id: testId('act', seq), state: 'executing' },
      at: testTime(seq),
    },
    { object: 'action', id: testId('act', seq), tool: 'whole' },
    'abc',
  );

/** Writes down what it is told. */
class Listener implements FeedReader {
  readonly heard: number[] = [];
  readonly passed: number[] = [];
  resyncs = 0;
  doubts = 0;

  constructor(readonly filter: EventFilter = EVERYTHING) {}

  offer({ seq }: FedEvent): void {
    this.heard.push(Number(seq));
  }

  passOver({ seq }: FedEvent): void {
    this.passed.push(Number(seq));
  }

  doubt(): void {
    this.doubts += 1;
  }

  resync(): void {
    this.resyncs += 1;
  }
}

const seqs = (events: readonly FedEvent[] | null): readonly number[] | null =>
  events && events.map(({ seq }) => Number(seq));

describe('a feed of events', () => {
  it('makes every listener doubt its credential where one may have ended, whatever it asks for', () => {
    const feed = new EventFeed(0n, 0);
    const [all, agents] = [new Listener(), new Listener(new EventFilter(AGENTS[1], new Set(['action.created']), null))];
    for (const listener of [all, agents]) feed.join(listener);
    const sealed = (seq: number, kind: string): FedEvent => {
      const { event } = eventOf(seq, 'deed.sealed');
      return new FedEvent({ ...event, thin: { object: 'deed_summary', id: testId('deed', seq), kind } }, null, 'abc');
    };
    const told = [
      eventOf(1),
      sealed(2, 'action'),
      sealed(3, 'admin'),
      eventOf(4, 'agent.stopped'),
      eventOf(5, 'org.stopped'),
    ];
    const doubts = told.map((event) => {
      feed.push(event, 0);
      return [all.doubts, agents.doubts];
    });
    expect(doubts).toEqual([0, 0, 1, 2, 3].map((count) => [count, count]));
  });

  it('tells each listener what a naive filter would, in order, whatever it asks for', () => {
    const arbitraryFilter = fc.record({
      viewer: fc.constantFrom(...AGENTS),
      types: fc.option(fc.subarray([...PUBLIC_EVENT_TYPES])),
      agent: fc.constantFrom(...AGENTS),
    });
    const arbitraryEvent = fc.record({
      type: fc.constantFrom(...PUBLIC_EVENT_TYPES),
      agent: fc.constantFrom(...AGENTS),
    });
    fc.assert(
      fc.property(fc.array(arbitraryFilter), fc.array(arbitraryEvent), (filters, events) => {
        const feed = new EventFeed(0n, 0);
        const listeners = filters.map(({ viewer, types, agent }) => {
          const listener = new Listener(new EventFilter(viewer, types && new Set(types), agent));
          feed.join(listener);
          return listener;
        });
        events.forEach(({ type, agent }, index) => feed.push(eventOf(index + 1, type, agent), 0));
        filters.forEach(({ viewer, types, agent }, index) => {
          const naive = events.flatMap((event, place) => {
            const isOfAgents = event.type.startsWith('action.') || event.type.startsWith('approval.');
            const isVisible =
              viewer === null || (event.agent === viewer && (isOfAgents || event.type === 'deed.sealed'));
            const isAskedFor = (types?.includes(event.type) ?? true) && (agent === null || event.agent === agent);
            return isVisible && isAskedFor ? [place + 1] : [];
          });
          expect(listeners[index]?.heard).toEqual(naive);
          const others = events.map((_, place) => place + 1).filter((seq) => !naive.includes(seq));
          expect(listeners[index]?.passed).toEqual(others);
        });
      }),
      { numRuns: 500 },
    );
  });

  it('begins behind a place, and takes no event twice', () => {
    const feed = new EventFeed(10n, 0);
    expect([10, 11].map((seq) => feed.awaits(eventOf(seq).event))).toEqual([false, true]);
    feed.push(eventOf(12), 0);
    expect([11, 12, 13].map((seq) => feed.awaits(eventOf(seq).event))).toEqual([false, false, true]);
  });

  it('repeats all behind a cursor, and nothing where some of it is gone', () => {
    const feed = new EventFeed(10n, 0);
    for (const seq of [12, 15, 19]) feed.push(eventOf(seq), 0);
    expect([9, 10, 12, 14, 19, 20].map((seq) => seqs(feed.behind(BigInt(seq), 0)))).toEqual([
      null,
      [12, 15, 19],
      [15, 19],
      [15, 19],
      [],
      null,
    ]);
  });

  it('keeps 1,024 events', () => {
    const feed = new EventFeed(0n, 0);
    for (let seq = 1; seq <= 1_030; seq += 1) feed.push(eventOf(seq), 0);
    expect(feed.behind(5n, 0)).toBeNull();
    expect(feed.behind(6n, 0)).toHaveLength(1_024);
  });

  it('keeps five minutes, and is forgotten when nobody has listened for as long', () => {
    const feed = new EventFeed(0n, 0);
    const leave = feed.join(new Listener());
    feed.push(eventOf(1), 0);
    feed.push(eventOf(2), 1_000);
    expect(seqs(feed.behind(0n, KEPT_MS))).toEqual([1, 2]);
    expect(feed.behind(0n, KEPT_MS + 1)).toBeNull();
    expect(seqs(feed.behind(1n, KEPT_MS + 1))).toEqual([2]);
    expect(seqs(feed.behind(2n, 10 * KEPT_MS))).toEqual([]);
    expect(feed.isForgotten(10 * KEPT_MS)).toBe(false);
    leave(10 * KEPT_MS);
    expect([11 * KEPT_MS, 11 * KEPT_MS + 1].map((nowMs) => feed.isForgotten(nowMs))).toEqual([false, true]);
  });

  it('tells everybody when it begins anew, and knows nothing of before', () => {
    const feed = new EventFeed(0n, 0);
    const listener = new Listener();
    feed.join(listener);
    feed.push(eventOf(1), 0);
    feed.beginAnew(50n);
    expect([listener.resyncs, feed.behind(1n, 0), seqs(feed.behind(50n, 0))]).toEqual([1, null, []]);
  });
});

describe('an event on its way', () => {
  const dataOf = (event: FedEvent, variant: 'organization' | 'agent') => {
    const lines = event.frameFor(variant).toString().split('\n');
    return JSON.parse((lines[2] as string).slice('data: '.length)) as Record<string, unknown>;
  };

  it.each([
    ['action.created', true, true],
    ['approval.decided', true, false],
    ['agent.stopped', true, false],
    ['deed.sealed', true, true],
  ] as const)('%s is whole to people: %s, and to an agent: %s', (type, toPeople, toAgents) => {
    const event = eventOf(1, type, testId('agt', 1));
    expect([dataOf(event, 'organization')['hydrated'], dataOf(event, 'agent')['hydrated']]).toEqual([
      toPeople,
      toAgents,
    ]);
  });

  it('is thin where its object could not be read', () => {
    const { event } = eventOf(7);
    const thin = new FedEvent(event, null, 'abc');
    expect(dataOf(thin, 'organization')).toMatchObject({ hydrated: false, data: { object: event.thin } });
    expect(thin.frameFor('organization').toString()).toMatch(/^id: abc\.7\nevent: action\.created\ndata: \{.*\}\n\n$/);
  });

  it('is written once for all who see the same of it', () => {
    const event = eventOf(1);
    expect(event.frameFor('agent')).toBe(event.frameFor('agent'));
  });
});
