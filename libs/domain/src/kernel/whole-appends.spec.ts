import { describe, expect, it } from 'vitest';
import { encodeEvents, recordedAt, type EventMetadata } from './event-codec.js';
import { APPEND_LIMIT_BYTES, START, type RecordedEvent } from './event-store.port.js';
import { beginOfAppend, readWholeAppends } from './whole-appends.js';

interface Written {
  readonly stream: string;
  readonly first: number;
  /** One metadata text for each event. */
  readonly metadata: readonly string[];
  readonly data?: string;
}

const logOf = (...appends: readonly Written[]): readonly RecordedEvent[] =>
  appends
    .flatMap(({ stream, first, metadata, data = '{}' }) =>
      metadata.map((text, index) => ({ stream, revision: first + index, data, metadata: text })),
    )
    .map(({ stream, revision, data, metadata }, position) =>
      recordedAt({ id: `${position}`, type: 'Happened', data, metadata }, stream, revision, BigInt(position)),
    );
const written = (stream: string, first: number, count: number, command: string): Written => ({
  stream,
  first,
  metadata: Array<string>(count).fill(command),
});

const reading = (log: readonly RecordedEvent[]) => {
  const limits: number[] = [];
  const readAll = (after: bigint, limit: number): Promise<readonly RecordedEvent[]> => {
    limits.push(limit);
    return Promise.resolve(log.filter(({ position }) => position > after).slice(0, limit));
  };
  return { limits, readAll };
};
const pageOf = async (log: readonly RecordedEvent[], limit: number, after = START) => {
  const { events, isLast } = await readWholeAppends(reading(log).readAll, after, limit);
  return { count: events.length, isLast };
};

describe('a page of whole appends', () => {
  const log = logOf(written('a', 0, 2, 'one'), written('b', 0, 3, 'two'), written('a', 2, 2, 'three'));

  it('leaves an append that its limit may have cut to the next page', async () => {
    expect(await pageOf(log, 4)).toEqual({ count: 2, isLast: false });
    expect(await pageOf(log, 5)).toEqual({ count: 2, isLast: false });
    expect(await pageOf(log, 6)).toEqual({ count: 5, isLast: false });
    expect(await pageOf(log, 6, 1n)).toEqual({ count: 5, isLast: true });
  });

  it('has all events if the log ends within it', async () => {
    expect(await pageOf(log, 8)).toEqual({ count: 7, isLast: true });
    expect(await pageOf(log, 8, 6n)).toEqual({ count: 0, isLast: true });
  });

  it('has more events than its limit if a single append has more', async () => {
    expect(await pageOf(log, 1)).toEqual({ count: 2, isLast: false });
    expect(await pageOf(log, 2, 1n)).toEqual({ count: 3, isLast: false });
    expect(await pageOf(log, 1, 4n)).toEqual({ count: 2, isLast: true });
  });

  it('ends after more events than one append can hold, without reading on', async () => {
    const metadata = Array<string>(64).fill('one');
    const { limits, readAll } = reading(
      logOf({ stream: 'a', first: 0, metadata, data: 'x'.repeat(APPEND_LIMIT_BYTES / 7) }),
    );
    const { events, isLast } = await readWholeAppends(readAll, START, 2);
    expect({ count: events.length, isLast }).toEqual({ count: 8, isLast: false });
    expect(limits).toEqual([2, 4, 8]);
  });
});

it('an append is events of one stream that follow each other and share their metadata', () => {
  const begins = (...appends: readonly Written[]): readonly number[] => {
    const log = logOf(...appends);
    return log.map((_, index) => beginOfAppend(log, index));
  };
  expect(begins(written('a', 0, 3, 'one'))).toEqual([0, 0, 0]);
  expect(begins(written('a', 0, 2, 'one'), written('a', 2, 2, 'two'))).toEqual([0, 0, 2, 2]);
  expect(begins(written('a', 0, 2, 'one'), written('b', 2, 2, 'one'))).toEqual([0, 0, 2, 2]);
  expect(begins(written('a', 0, 2, 'one'), written('a', 3, 1, 'one'))).toEqual([0, 0, 2]);
  // Deeds have different metadata because each names its own source, so each is an append by itself.
  expect(begins({ stream: 'ledger', first: 0, metadata: ['one', 'two', 'three'] })).toEqual([0, 1, 2]);
  expect(beginOfAppend([], -1)).toBe(0);
});

it('an append is recognised by the metadata that the codec writes', () => {
  const metadata = (causation: string): EventMetadata => ({
    org: null,
    actor: { type: 'system', id: null },
    request_id: null,
    causation,
    correlation: 'one action',
    schema: 1,
    at: '2026-10-01T12:00:00.000Z',
  });
  const events = [
    { type: 'First', data: { amount: 1 } },
    { type: 'Second', data: {} },
  ];
  const log = ['one command', 'another']
    .flatMap((command, index) => encodeEvents(events, metadata(command), 'a', 2 * index))
    .map((event, index) => recordedAt(event, 'a', index, BigInt(index)));
  expect(log.map((_, index) => beginOfAppend(log, index))).toEqual([0, 0, 2, 2]);
});
