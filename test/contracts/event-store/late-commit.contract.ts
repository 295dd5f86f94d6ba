import { describe, expect, it } from 'vitest';
import { type EventStore, type Position, type RecordedEvent } from '#libs/domain/kernel';
import { newEvents, newStream } from '../../support/new-event.js';
import type { LogUnderTest } from './log-under-test.js';

const WRITERS = 16;
const DELAYED_EVENTS = 40_000;
const EVENTS_PER_DELAYED_APPEND = 20;

export const lateCommitContract = (log: LogUnderTest): void => {
  describe('a reader by position', () => {
    it('never skips an event that was committed late', { timeout: 180_000 }, async () => {
      await log.harness.delayCommits?.();
      const endTransaction = await log.harness.openTransactionElsewhere?.();
      const before = await log.store.head();
      const reader = await log.harness.open();
      const seen: RecordedEvent[] = [];
      let isWriting = true;
      const reading = (async () => {
        for (let after = before; ;) {
          const isLast = !isWriting;
          const events = await reader.readAll(after, 500);
          seen.push(...events);
          after = events.at(-1)?.position ?? after;
          if (isLast && events.length === 0) return;
        }
      })();
      try {
        await Promise.all(Array.from({ length: WRITERS }, async () => writeSlowly(await log.harness.open())));
      } finally {
        isWriting = false;
        await reading;
        await endTransaction?.();
      }
      expect(seen).toHaveLength(DELAYED_EVENTS);
      expect(new Set(seen.map(({ id }) => id)).size).toBe(DELAYED_EVENTS);
      expect(isStrictlyRising(seen.map(({ position }) => position))).toBe(true);
      expect(streamsWithoutGaps(seen)).toBe(WRITERS);
    });
  });
};

const writeSlowly = async (store: EventStore): Promise<void> => {
  const stream = newStream();
  const count = DELAYED_EVENTS / WRITERS;
  for (let written = 0; written < count; written += EVENTS_PER_DELAYED_APPEND) {
    const expectedRevision = written === 0 ? 'no_stream' : written - 1;
    await store.append({ stream, expectedRevision, events: newEvents(EVENTS_PER_DELAYED_APPEND) });
  }
};

const isStrictlyRising = (positions: readonly Position[]): boolean =>
  positions.every((position, index) => index === 0 || position > (positions[index - 1] as Position));

/** The number of streams that the events belong to. Fails if one of the streams is incomplete or out of order. */
const streamsWithoutGaps = (events: readonly RecordedEvent[]): number => {
  const next = new Map<string, number>();
  for (const { stream, revision } of events) {
    expect(revision).toBe(next.get(stream) ?? 0);
    next.set(stream, revision + 1);
  }
  return next.size;
};
