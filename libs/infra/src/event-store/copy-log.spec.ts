import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type Append, type AppendResult, type RecordedEvent, START } from '#libs/domain/kernel';
import { firstOf, newEvent, newEvents, newStream } from '../../../../test/support/new-event.js';
import { copyLog, type CopyProgress, LogsDiffer, SourceWentOn } from './copy-log.js';
import { MemoryEventStore } from './memory/memory-event-store.js';

const EVERYTHING = 100_000;

/** A target whose process ends before, or after, it has written a given append. */
class MortalStore extends MemoryEventStore {
  appends = 0;
  constructor(
    private readonly lives: number,
    private readonly endsAfterWriting: boolean,
  ) {
    super();
  }

  override async append(append: Append): Promise<AppendResult> {
    this.appends += 1;
    if (this.appends !== this.lives) return super.append(append);
    if (this.endsAfterWriting) await super.append(append);
    throw new Error('the process ended');
  }
}

const withoutPlace = (events: readonly RecordedEvent[]) =>
  events.filter(({ stream }) => stream !== 'store').map(({ position: _, ...event }) => event);

let source: MemoryEventStore;
const quiet = { sending: 'together' as const, onProgress: () => undefined, mayGoOn: () => undefined };
const oneByOne = { ...quiet, sending: 'one_by_one' as const };
const logOf = (store: MemoryEventStore) => store.readAll(START, EVERYTHING);

beforeEach(async () => {
  source = new MemoryEventStore();
  const streams = [newStream(), newStream(), newStream()];
  for (let revision = 0; revision < 30; revision += 1) {
    if (revision === 7) await source.storeId();
    for (const stream of streams) {
      const expectedRevision = revision === 0 ? 'no_stream' : revision * 2 - 1;
      await source.append({ stream, expectedRevision, events: newEvents(2) });
    }
  }
});

describe('a log that is copied', () => {
  it('is the same in its order, ids and bytes, under an id of its own', async () => {
    const target = new MemoryEventStore();
    const onProgress = vi.fn();
    const copy = await copyLog({ source, target, ...quiet, onProgress });
    expect(withoutPlace(await logOf(target))).toEqual(withoutPlace(await logOf(source)));
    expect((await logOf(target)).map(({ stream }) => stream)).toEqual(
      (await logOf(source)).map(({ stream }) => stream),
    );
    expect(copy).toEqual({ events: 181, copied: 181, storeId: await target.storeId(), end: await source.head() });
    expect(copy.storeId).not.toBe(await source.storeId());
    expect(onProgress).toHaveBeenLastCalledWith({ step: 'comparing', events: 181, share: 1 });
  });

  it.each([1, 2, 14, 15, 45, 90])(
    'continues after its process ended at append %i, before or after that was written',
    async (lives) => {
      for (const isWritten of [false, true]) {
        const target = new MortalStore(lives, isWritten);
        await expect(copyLog({ source, target, ...oneByOne })).rejects.toThrow('the process ended');
        const there = (await logOf(target)).length;
        expect(await copyLog({ source, target, ...oneByOne })).toMatchObject({ events: 181, copied: 181 - there });
        expect(withoutPlace(await logOf(target))).toEqual(withoutPlace(await logOf(source)));
      }
    },
  );

  it('ends if mayGoOn throws, and a later run continues', async () => {
    const target = new MemoryEventStore();
    const refuse = (): void => {
      throw new Error('interrupted');
    };
    await expect(copyLog({ source, target, ...quiet, mayGoOn: refuse })).rejects.toThrow('interrupted');
    expect((await copyLog({ source, target, ...quiet })).events).toBe(181);
    await source.append({ stream: newStream(), expectedRevision: 'no_stream', events: newEvents(1) });
    expect(await copyLog({ source, target, ...quiet })).toMatchObject({ events: 182, copied: 1 });
  });

  it('reports a source that was written to during the comparison, and a later run continues', async () => {
    const target = new MemoryEventStore();
    const late: Promise<unknown>[] = [];
    const onProgress = ({ step, events }: CopyProgress): void => {
      if (step === 'comparing' && events === 181 && late.length === 0) late.push(source.append(firstOf(newStream())));
    };
    await expect(copyLog({ source, target, ...quiet, onProgress })).rejects.toBeInstanceOf(SourceWentOn);
    await Promise.all(late);
    expect(await copyLog({ source, target, ...quiet })).toMatchObject({ events: 182, copied: 1 });
    expect(withoutPlace(await logOf(target))).toEqual(withoutPlace(await logOf(source)));
  });

  it('is refused by a target that holds another log, and writes nothing there', async () => {
    const foreign = new MemoryEventStore();
    await foreign.append({ stream: newStream(), expectedRevision: 'no_stream', events: newEvents(1) });
    await expect(copyLog({ source, target: foreign, ...quiet })).rejects.toBeInstanceOf(LogsDiffer);
    expect(await logOf(foreign)).toHaveLength(1);
  });

  it('is refused by a target that was written to after an earlier copy', async () => {
    const target = new MemoryEventStore();
    await copyLog({ source, target, ...quiet });
    await target.append({ stream: newStream(), expectedRevision: 'no_stream', events: newEvents(1) });
    await expect(copyLog({ source, target, ...quiet })).rejects.toThrow('event 182 is not what the source has there');
  });

  it.each(['id', 'data', 'metadata', 'type'] as const)(
    'is refused by a target with an event whose %s differs',
    async (part) => {
      const [first, target] = [new MemoryEventStore(), new MemoryEventStore()];
      const event = newEvent();
      const other = { ...event, ...{ [part]: part === 'id' ? newEvent().id : '"other"' } };
      const stream = newStream();
      await first.append({ stream, expectedRevision: 'no_stream', events: [event] });
      await target.append({ stream, expectedRevision: 'no_stream', events: [other] });
      await expect(copyLog({ source: first, target, ...quiet })).rejects.toBeInstanceOf(LogsDiffer);
    },
  );

  it('splits events so that no append exceeds the limit', async () => {
    const [large, target] = [new MemoryEventStore(), new MemoryEventStore()];
    const stream = newStream();
    const data = JSON.stringify('x'.repeat(600_000));
    await large.append({ stream, expectedRevision: 'no_stream', events: [newEvent({ data })] });
    await large.append({ stream, expectedRevision: 0, events: [newEvent({ data }), newEvent()] });
    await copyLog({ source: large, target, ...quiet });
    expect(withoutPlace(await logOf(target))).toEqual(withoutPlace(await logOf(large)));
  });
});
