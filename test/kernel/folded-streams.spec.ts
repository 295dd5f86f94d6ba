import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  EVENT_SCHEMA_VERSION,
  appendEvents,
  FoldedStreams,
  MissingEvent,
  streamRef,
  UnknownEventType,
  type DomainEvent,
} from '#libs/domain/kernel';
import { MemoryEventStore } from '#libs/infra/event-store';
import { metadataAt } from '../support/given.js';

interface Noted extends DomainEvent {
  readonly type: 'Noted';
  readonly data: { readonly text: string };
}

/** A fold whose state keeps the text of every event. */
const notebook = {
  category: 'notebook',
  eventTypes: { Noted: true as const },
  initialState: (): readonly string[] => [],
  evolve: (state: readonly string[], event: Noted): readonly string[] => [...state, event.data.text],
};

let store: MemoryEventStore;
const note = async (id: string, revision: number | 'no_stream', text: string, type = 'Noted'): Promise<void> => {
  const event = { type, data: { text } };
  await appendEvents(store, `notebook-${id}`, revision, [event], {
    ...metadataAt(),
    commandId: `${id} ${String(revision)}`,
  });
};
const ref = (id: string) => streamRef(notebook, id);

beforeEach(() => {
  store = new MemoryEventStore();
});

describe('states folded from streams', () => {
  it('include everything in the log at the time of the call, and read only new events', async () => {
    const streams = new FoldedStreams(store);
    await note('a', 'no_stream', 'one');
    expect((await streams.load(ref('a'))).state).toEqual(['one']);
    await note('a', 0, 'two');
    const read = vi.spyOn(store, 'readStream');
    expect((await streams.load(ref('a'))).state).toEqual(['one', 'two']);
    expect(read).toHaveBeenCalledExactlyOnceWith('notebook-a', { from: 1, limit: 1, mayRemember: true });
  });

  it('are not cached once they are over', async () => {
    const streams = new FoldedStreams(store);
    const ended = streamRef({ ...notebook, isOver: (state) => state.at(-1) === 'the end' }, 'a');
    await note('a', 'no_stream', 'one');
    const { state } = await streams.load(ended);
    await note('a', 0, 'the end');
    expect((await streams.load(ended)).state).toEqual([...state, 'the end']);
    expect(streams.known(ended)).toBeNull();
    const read = vi.spyOn(store, 'readStream');
    expect((await streams.load(ended)).state).toEqual(['one', 'the end']);
    expect(read).toHaveBeenCalledExactlyOnceWith('notebook-a', { from: 0, limit: 2, mayRemember: true });
  });

  it('are refused if an event has an unknown type', async () => {
    await note('a', 'no_stream', 'one', 'Scribbled');
    await expect(new FoldedStreams(store).load(ref('a'))).rejects.toThrow(UnknownEventType);
  });

  it('are refused if an event has a newer schema', async () => {
    await note('a', 'no_stream', 'one');
    const metadata = JSON.stringify({ org: null, schema: EVENT_SCHEMA_VERSION + 1 });
    const event = { id: '00000000-0000-8000-8000-000000000001', type: 'Noted', data: '{"text":7}', metadata };
    await store.append({ stream: 'notebook-a', expectedRevision: 0, events: [event] });
    await expect(new FoldedStreams(store).load(ref('a'))).rejects.toThrow(
      `type Noted in schema ${EVENT_SCHEMA_VERSION + 1}`,
    );
  });

  it.each([
    ['its beginning', 0],
    ['one in its middle', 1],
  ])('never stand on a stream that lacks %s', async (_, missing) => {
    await note('a', 'no_stream', 'one');
    await note('a', 0, 'two');
    await note('a', 1, 'three');
    const all = await store.readStream('notebook-a');
    vi.spyOn(store, 'readStream').mockResolvedValue(all.filter(({ revision }) => revision !== missing));
    const load = new FoldedStreams(store).load(ref('a'));
    await expect(load).rejects.toBeInstanceOf(MissingEvent);
    await expect(load).rejects.toThrow(`notebook-a holds no event at revision ${missing}`);
  });

  describe('that a question after a given one has covered', () => {
    const asked = () => vi.spyOn(store, 'heads');
    const given = async (...ids: readonly string[]): Promise<FoldedStreams> => {
      for (const id of ids) await note(id, 'no_stream', `${id} one`);
      return new FoldedStreams(store);
    };

    it('are answered from the cache', async () => {
      const streams = await given('a', 'b');
      const since = streams.lastQuestion;
      await streams.load(ref('a'));
      const heads = asked();
      const { a, b } = await streams.loadAll({ a: ref('a'), b: ref('b') }, { since });
      expect(heads.mock.calls).toEqual([[['notebook-b']]]);
      expect([a.state, b.state]).toEqual([['a one'], ['b one']]);
      await streams.loadAll({ a: ref('a'), b: ref('b') }, { since });
      expect(heads).toHaveBeenCalledOnce();
    });

    it('include everything that was in the log at that moment', async () => {
      const streams = await given('a');
      await streams.load(ref('a'));
      await note('a', 0, 'two');
      const since = streams.lastQuestion;
      const { a } = await streams.loadAll({ a: ref('a') }, { since });
      expect(a.state).toEqual(['a one', 'two']);
    });

    it('are asked for if the question that covered them had already been sent at that moment', async () => {
      const streams = await given('a');
      const early = streams.load(ref('a'));
      const since = streams.lastQuestion;
      await early;
      await note('a', 0, 'two');
      const { a } = await streams.loadAll({ a: ref('a') }, { since });
      expect(a.state).toEqual(['a one', 'two']);
    });

    it('bring along their followers: streams that had to be asked for after them the last time', async () => {
      const streams = await given('a', 'b');
      const request = async () => {
        const since = streams.lastQuestion;
        await streams.load(ref('a'));
        return streams.loadAll({ a: ref('a'), b: ref('b') }, { since });
      };
      await request();
      await note('b', 0, 'two');
      const heads = asked();
      expect((await request()).b.state).toEqual(['b one', 'two']);
      expect(heads.mock.calls).toEqual([[['notebook-a', 'notebook-b']]]);
    });

    it('are read even if one of their followers cannot be', async () => {
      const streams = await given('a', 'b');
      const since = streams.lastQuestion;
      await streams.load(ref('a'));
      await streams.loadAll({ a: ref('a'), b: ref('b') }, { since });
      await note('b', 0, 'two', 'Scribbled');
      expect((await streams.load(ref('a'))).state).toEqual(['a one']);
      await expect(streams.load(ref('b'))).rejects.toThrow(UnknownEventType);
    });
  });

  /** Which of these streams are cached: those for which nothing is read. */
  const remembered = async (streams: FoldedStreams, ids: readonly string[]): Promise<readonly string[]> => {
    const read = vi.spyOn(store, 'readStream');
    const found: string[] = [];
    for (const id of ids) {
      const before = read.mock.calls.length;
      await streams.remembered(ref(id));
      if (read.mock.calls.length === before) found.push(id);
      else return found;
    }
    return found;
  };

  it('are cached up to the capacity, those used last', async () => {
    const streams = new FoldedStreams(store, { entries: 4, weight: 1_000_000 });
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      await note(id, 'no_stream', id);
      await streams.load(ref(id));
    }
    expect(await remembered(streams, ['e', 'd', 'c', 'b'])).toEqual(['e', 'd', 'c']);
  });

  it('are cached by the weight of their events: few large ones are kept', async () => {
    const streams = new FoldedStreams(store, { entries: 100, weight: 60_000 });
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      await note(id, 'no_stream', 'x'.repeat(13_000));
      await streams.load(ref(id));
    }
    expect(await remembered(streams, ['e', 'd', 'c', 'b', 'a'])).toEqual(['e', 'd', 'c', 'b']);
  });

  it('a stream above a quarter of the weight is read each time, and displaces no other', async () => {
    const streams = new FoldedStreams(store, { entries: 100, weight: 60_000 });
    await note('a', 'no_stream', 'small');
    await streams.load(ref('a'));
    await note('b', 'no_stream', 'x'.repeat(16_000));
    expect((await streams.load(ref('b'))).state).toHaveLength(1);
    expect((await streams.load(ref('b'))).state).toHaveLength(1);
    expect(await remembered(streams, ['a', 'b'])).toEqual(['a']);
  });

  it('count the weight of their events once, however often they grow', async () => {
    const streams = new FoldedStreams(store, { entries: 100, weight: 40_000 });
    await note('a', 'no_stream', 'small');
    await streams.load(ref('a'));
    await note('b', 'no_stream', 'x'.repeat(1_000));
    for (let revision = 0; revision < 5; revision += 1) {
      await note('b', revision, 'x'.repeat(1_000));
      await streams.load(ref('b'));
    }
    expect(await remembered(streams, ['b', 'a'])).toEqual(['b', 'a']);
  });
});
