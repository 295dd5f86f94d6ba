import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { type RecordedEvent, START } from '#libs/domain/kernel';
import { isNextInOrder, isNextOfGapless, RecentEvents } from './recent-events.js';

const event = (position: number, stream = `s-${position}`, revision = 0, data = '{}'): RecordedEvent => ({
  id: `${position}`,
  type: 'Happened',
  data,
  metadata: '{}',
  stream,
  revision,
  position: BigInt(position),
});
const events = (first: number, last: number): RecordedEvent[] =>
  Array.from({ length: last - first + 1 }, (_, index) => event(first + index));
const positions = (found: readonly RecordedEvent[] | null) => found?.map(({ position }) => Number(position)) ?? null;

describe('recent events: the end of the log', () => {
  it('gives the events after a position, up to the limit', () => {
    const recent = new RecentEvents(isNextOfGapless);
    recent.add(events(3, 6));
    expect(positions(recent.after(4n, 10))).toEqual([5, 6]);
    expect(positions(recent.after(2n, 2))).toEqual([3, 4]);
    expect(recent.after(6n, 10)).toEqual([]);
  });

  it('gives no events after a position that it does not cover', () => {
    const recent = new RecentEvents(isNextOfGapless);
    expect(recent.after(START, 10)).toEqual([]);
    recent.add(events(3, 6));
    expect(recent.after(1n, 10)).toEqual([]);
    expect(recent.after(START, 10)).toEqual([]);
  });

  it('takes an event once, however often it is added', () => {
    const recent = new RecentEvents(isNextOfGapless);
    recent.add(events(0, 3));
    recent.add(events(1, 5));
    recent.add(events(2, 2));
    expect(positions(recent.after(START, 10))).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('knows the last revision of a stream as long as it holds one of its events', () => {
    const recent = new RecentEvents(isNextOfGapless);
    recent.add([event(0, 'a', 0), event(1, 'a', 1), event(2, 'b', 0)]);
    expect(['a', 'b', 'c'].map((stream) => recent.lastOf(stream))).toEqual([1, 0, null]);
    recent.add([event(4, 'c', 3)]);
    expect(['a', 'b', 'c'].map((stream) => recent.lastOf(stream))).toEqual([null, null, 3]);
  });

  it('starts anew after a hole, because other processes appended in between', () => {
    const recent = new RecentEvents(isNextOfGapless);
    recent.add(events(0, 3));
    recent.add(events(5, 6));
    expect(recent.after(START, 10)).toEqual([]);
    expect(recent.after(3n, 10)).toEqual([]);
    expect(positions(recent.after(4n, 10))).toEqual([5, 6]);
    expect(recent.ofStream('s-0', 0, 1)).toBeNull();
  });

  it('drops events that every reader has passed, except the last 512', () => {
    const [slow, quick] = [{ position: 99n }, { position: 1_000n }];
    const readers = new Set([slow, quick]);
    const recent = new RecentEvents(isNextOfGapless, readers);
    recent.add(events(0, 1_999));
    expect(positions(recent.after(99n, 1))).toEqual([100]);
    expect(recent.after(98n, 1)).toEqual([]);
    expect(recent.ofStream('s-99', 0, 1)).toBeNull();
    slow.position = 1_800n;
    recent.add(events(2_000, 2_000));
    expect(positions(recent.after(1_000n, 1))).toEqual([1_001]);
    expect(recent.after(999n, 1)).toEqual([]);
    quick.position = 2_000n;
    recent.add(events(2_001, 2_001));
    expect(recent.since(1_489n)).toHaveLength(512);
    expect(recent.since(1_488n)).toBeNull();
  });

  it('keeps the last 128 events if they are added one by one', () => {
    const recent = new RecentEvents(isNextOfGapless);
    for (let position = 0; position < 1_000; position += 1) recent.add(events(position, position));
    expect(recent.since(871n)).toHaveLength(128);
    expect(recent.since(870n)).toBeNull();
  });

  it('drops all but the last 512 events if there is no reader', () => {
    const recent = new RecentEvents(isNextOfGapless);
    for (let first = 0; first < 5_000; first += 100) recent.add(events(first, first + 99));
    expect(recent.since(4_487n)).toHaveLength(512);
    expect(recent.since(4_486n)).toBeNull();
  });

  it('drops all but the events of the last 16 additions', () => {
    const recent = new RecentEvents(isNextOfGapless);
    for (let first = 0; first < 1_000; first += 20) {
      recent.add(events(first, first + 19));
      recent.add([]);
    }
    expect(recent.since(679n)).toHaveLength(320);
    expect(recent.since(678n)).toBeNull();
    expect(recent.ofStream('s-680', 0, 1)).toHaveLength(1);
    expect(recent.ofStream('s-679', 0, 1)).toBeNull();
  });

  it('drops the oldest beyond 4,096 events, however far behind a reader is', () => {
    const recent = new RecentEvents(isNextOfGapless, new Set([{ position: START }]));
    for (let first = 0; first < 20_000; first += 100) recent.add(events(first, first + 99));
    expect(recent.after(20_000n - 4_098n, 1)).toEqual([]);
    expect(positions(recent.after(20_000n - 4_097n, 1))).toEqual([20_000 - 4_096]);
    expect(recent.after(20_000n - 4_097n, 10_000)).toHaveLength(4_096);
    expect(recent.ofStream('s-15903', 0, 1)).toBeNull();
    expect(recent.ofStream('s-15904', 0, 1)).toHaveLength(1);
  });

  it('drops the oldest events beyond 8 MiB of text', () => {
    const recent = new RecentEvents(isNextOfGapless);
    for (let position = 0; position < 20; position += 1)
      recent.add([event(position, 's-a', position, 'x'.repeat(900_000))]);
    expect(positions(recent.after(10n, 20))).toEqual([11, 12, 13, 14, 15, 16, 17, 18, 19]);
    expect(recent.after(9n, 20)).toEqual([]);
  });

  it('does not keep dropped long events alive, however few they are', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const recent = new RecentEvents(isNextOfGapless);
    const added: WeakRef<RecordedEvent>[] = [];
    for (let position = 0; position < 40; position += 1) {
      const long = event(position, `s-${position}`, 0, 'x'.repeat(900_000));
      added.push(new WeakRef(long));
      recent.add([long]);
    }
    // The engine keeps a `WeakRef` target alive until the end of the turn that created or read it.
    await turn();
    collectGarbage();
    const held = added.filter((reference) => reference.deref() !== undefined);
    expect(positions(recent.after(30n, 20))).toHaveLength(9);
    expect(held.length).toBe(9);
  });
});

describe('recent events: of a stream', () => {
  it('gives a range only if it holds all of its events', () => {
    const recent = new RecentEvents(isNextOfGapless);
    recent.add([event(0, 's-a', 4), event(1, 's-b', 0), event(2, 's-a', 5), event(3, 's-a', 6)]);
    expect(positions(recent.ofStream('s-a', 4, 3))).toEqual([0, 2, 3]);
    expect(positions(recent.ofStream('s-a', 5, 1))).toEqual([2]);
    expect(recent.ofStream('s-a', 3, 2)).toBeNull();
    expect(recent.ofStream('s-a', 6, 2)).toBeNull();
    expect(recent.ofStream('s-c', 0, 1)).toBeNull();
  });
});

describe('recent events of a log whose positions have gaps', () => {
  const inOrder = (): RecentEvents => {
    const recent = new RecentEvents(isNextInOrder);
    recent.add([event(100), event(143), event(250)]);
    return recent;
  };

  it('follow each other in the order of adding', () => {
    const recent = inOrder();
    expect(positions(recent.after(100n, 10))).toEqual([143, 250]);
    expect(positions(recent.after(143n, 1))).toEqual([250]);
    expect(recent.after(250n, 10)).toEqual([]);
  });

  it('answer nothing for positions before the first event, nor for those before a call of clear', () => {
    const recent = inOrder();
    expect(recent.after(57n, 10)).toEqual([]);
    recent.clear();
    expect(recent.after(100n, 10)).toEqual([]);
    recent.add([event(400)]);
    expect(recent.after(250n, 10)).toEqual([]);
    expect(recent.ofStream('s-250', 0, 1)).toBe(null);
  });
});
