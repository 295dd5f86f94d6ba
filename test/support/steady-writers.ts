import { expect, vi } from 'vitest';
import type { EventStore, Position, RecordedEvent, Subscription } from '#libs/domain/kernel';
import { newEvents, newStream } from './new-event.js';

type IdsByStream = ReadonlyMap<string, readonly string[]>;

/** They write on and on, whatever fails, each in a stream of its own. A refused append ends the test. */
export class SteadyWriters {
  private readonly written = new Map<string, string[]>();
  private readonly writing: Promise<unknown>;
  private isOver = false;

  constructor(
    private readonly store: EventStore,
    count: number,
  ) {
    this.writing = Promise.all(Array.from({ length: count }, () => this.write(newStream())));
  }

  /** Events. */
  get answered(): number {
    return [...this.written.values()].reduce((sum, ids) => sum + ids.length, 0);
  }

  async go(count: number): Promise<void> {
    const before = this.answered;
    await vi.waitFor(() => expect(this.answered).toBeGreaterThan(before + count), { timeout: 30_000 });
  }

  /** Each has the answer to its last append. */
  async end(): Promise<IdsByStream> {
    this.isOver = true;
    await this.writing;
    return this.written;
  }

  private async write(stream: string): Promise<void> {
    const ids: string[] = [];
    this.written.set(stream, ids);
    while (!this.isOver) {
      const expectedRevision = ids.length === 0 ? 'no_stream' : ids.length - 1;
      const events = newEvents(2);
      expect((await this.store.append({ stream, expectedRevision, events })).revision).toBe(ids.length + 1);
      ids.push(...events.map(({ id }) => id));
    }
  }
}

/** What the log holds, by stream, in its order. */
export const idsInLog = async (store: EventStore, after: Position): Promise<IdsByStream> => {
  const ids = new Map<string, string[]>();
  for (let from = after; ;) {
    const page = await store.readAll(from, 1_000);
    for (const { stream, id } of page) ids.set(stream, [...(ids.get(stream) ?? []), id]);
    const last = page.at(-1);
    if (!last) return ids;
    from = last.position;
  }
};

/** What a subscription was given so far. */
export const following = (
  store: EventStore,
  after: Position,
): { readonly events: readonly RecordedEvent[]; readonly subscription: Subscription } => {
  const events: RecordedEvent[] = [];
  const subscription = store.subscribeToAll({
    after,
    onEvents: (batch) => Promise.resolve(void events.push(...batch)),
    onError: () => undefined,
  });
  return { events, subscription };
};

export const expectRising = (events: readonly RecordedEvent[]): void =>
  expect(events.every(({ position }, index) => position > (events[index - 1]?.position ?? -1n))).toBe(true);
