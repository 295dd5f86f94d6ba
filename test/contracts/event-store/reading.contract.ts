import { beforeAll, describe, expect, it } from 'vitest';
import { type EventStore, type Position, type RecordedEvent } from '#libs/domain/kernel';
import { newEvents, newStream } from '../../support/new-event.js';
import { EVENTS_OF_APPEND, WHOLE_APPENDS, writeWholeAppends } from '../../support/whole-appends.js';
import type { LogUnderTest } from './log-under-test.js';

export const readingContract = (log: LogUnderTest): void => {
  describe('reading a stream', () => {
    const stream = newStream();
    const LENGTH = 10_000;
    const revisions = async (options: Parameters<EventStore['readStream']>[1]) =>
      (await log.store.readStream(stream, options)).map(({ revision }) => revision);
    const range = (from: number, to: number) =>
      Array.from({ length: Math.abs(to - from) + 1 }, (_, index) => from + Math.sign(to - from) * index);

    beforeAll(async () => {
      for (let written = 0; written < LENGTH; written += 500) {
        const expectedRevision = written === 0 ? 'no_stream' : written - 1;
        await log.store.append({ stream, expectedRevision, events: newEvents(500) });
      }
    });

    it('gives all 10,000 events in order', async () => {
      expect(await revisions(undefined)).toEqual(range(0, LENGTH - 1));
    });

    it('begins at `from`, inclusive', async () => {
      expect(await revisions({ from: 9_990 })).toEqual(range(9_990, 9_999));
      expect(await revisions({ from: LENGTH })).toEqual([]);
    });

    it('goes backwards from the last event, or from `from`', async () => {
      expect(await revisions({ direction: 'backwards' })).toEqual(range(LENGTH - 1, 0));
      expect(await revisions({ direction: 'backwards', limit: 2 })).toEqual([9_999, 9_998]);
      expect(await revisions({ direction: 'backwards', from: 1 })).toEqual([1, 0]);
    });

    it('ends at its limit', async () => {
      expect(await revisions({ limit: 3 })).toEqual([0, 1, 2]);
      expect(await revisions({ from: 10, limit: 2_000 })).toEqual(range(10, 2_009));
    });

    it('returns nothing for a stream that does not exist', async () => {
      expect(await log.store.readStream(newStream())).toEqual([]);
      expect(await log.store.readStream(newStream(), { direction: 'backwards', limit: 1 })).toEqual([]);
    });
  });

  describe('heads', () => {
    it('are the last revisions of the streams that exist', async () => {
      const [one, three, none] = [newStream(), newStream(), newStream()];
      await log.store.append({ stream: one, expectedRevision: 'no_stream', events: newEvents(1) });
      await log.store.append({ stream: three, expectedRevision: 'no_stream', events: newEvents(3) });
      expect(await log.store.heads([one, three, none])).toEqual(
        new Map([
          [one, 0],
          [three, 2],
        ]),
      );
      expect(await log.store.heads([])).toEqual(new Map());
    });

    it('are never behind seenHeads', async () => {
      const other = await log.harness.open();
      const [ours, theirs] = [newStream(), newStream()];
      for (let revision = 0; revision < 5; revision += 1) {
        const expectedRevision = revision === 0 ? 'no_stream' : revision - 1;
        await log.store.append({ stream: ours, expectedRevision, events: newEvents(1) });
        await other.append({ stream: theirs, expectedRevision, events: newEvents(1) });
        const seen = log.store.seenHeads([ours, theirs, newStream()]);
        const heads = await log.store.heads([ours, theirs]);
        for (const [stream, last] of seen) expect(last).toBeLessThanOrEqual(heads.get(stream) ?? -1);
      }
    });

    it('are ends of appends even while others append', async () => {
      const other = await log.harness.open();
      const stream = newStream();
      let isWriting = true;
      const writing = writeWholeAppends(other, stream).finally(() => (isWriting = false));
      const heads: number[] = [];
      while (isWriting) heads.push((await log.store.heads([stream])).get(stream) ?? -1);
      await writing;
      expect((await log.store.heads([stream])).get(stream)).toBe(WHOLE_APPENDS * EVENTS_OF_APPEND - 1);
      expect(heads.filter((head) => (head + 1) % EVENTS_OF_APPEND !== 0)).toEqual([]);
    });

    it('include the appends that another client got answers for before', async () => {
      const other = await log.harness.open();
      const stream = newStream();
      for (let revision = 0; revision < 50; revision += 1) {
        await log.store.append({
          stream,
          expectedRevision: revision === 0 ? 'no_stream' : revision - 1,
          events: newEvents(1),
        });
        expect((await other.heads([stream])).get(stream)).toBe(revision);
      }
    });
  });

  describe('the whole log', () => {
    it('is read after a position, exclusive, in order', async () => {
      const before = await log.store.head();
      const [first, second] = [newStream(), newStream()];
      await log.store.append({ stream: first, expectedRevision: 'no_stream', events: newEvents(2) });
      await log.store.append({ stream: second, expectedRevision: 'no_stream', events: newEvents(2) });
      await log.store.append({ stream: first, expectedRevision: 1, events: newEvents(1) });
      const events = await log.store.readAll(before, 100);
      expect(events.map(({ stream, revision }) => [stream, revision])).toEqual([
        [first, 0],
        [first, 1],
        [second, 0],
        [second, 1],
        [first, 2],
      ]);
      expect(await log.store.head()).toBe(events.at(-1)?.position);
      const third = events[2]?.position as Position;
      expect(await log.store.readAll(third, 1)).toEqual(events.slice(3, 4));
      expect(await log.store.readAll(await log.store.head(), 10)).toEqual([]);
    });

    it('ends with a whole append whenever it is read to its end, even while others append', async () => {
      const [other, reader] = [await log.harness.open(), await log.harness.open()];
      const before = await log.store.head();
      let isWriting = true;
      const writing = writeWholeAppends(other).finally(() => (isWriting = false));
      const seen: RecordedEvent[] = [];
      while (isWriting || seen.length < WHOLE_APPENDS * EVENTS_OF_APPEND) {
        const page = await reader.readAll(seen.at(-1)?.position ?? before, 10_000);
        seen.push(...page);
        expect(seen.length % EVENTS_OF_APPEND).toBe(0);
      }
      await writing;
      expect(seen.map(({ revision }) => revision)).toEqual(
        Array.from({ length: WHOLE_APPENDS * EVENTS_OF_APPEND }, (_, revision) => revision),
      );
    });

    it('has an id that every client agrees on, whichever asks first', async () => {
      const clients = await Promise.all([log.harness.open(), log.harness.open(), log.harness.open()]);
      const ids = await Promise.all([...clients, log.store].map((client) => client.storeId()));
      expect(new Set(ids).size).toBe(1);
      expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
    });
  });
};
