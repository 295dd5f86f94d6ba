import { APPEND_LIMIT_BYTES, type Position, type RecordedEvent } from './event-store.port.js';

/** Consecutive events of the log. */
export interface LogPage {
  readonly events: readonly RecordedEvent[];
  /** Whether the page reached the end of the log when it was read. */
  readonly isLast: boolean;
}

/** The same as {@link EventStore.readAll}. */
export type ReadAll = (after: Position, limit: number) => Promise<readonly RecordedEvent[]>;

/** At most `limit` events; the page may end between two events of one append. */
export const readPage = async (readAll: ReadAll, after: Position, limit: number): Promise<LogPage> => {
  const events = await readAll(after, limit);
  return { events, isLast: events.length < limit };
};

/**
 * A page that does not end between two events of one append: at most `limit` events, or a single append if that has
 * more. The last append of a full page may be cut off, so that append is left to the next page.
 */
export const readWholeAppends = async (readAll: ReadAll, after: Position, limit: number): Promise<LogPage> => {
  const page = await readPage(readAll, after, limit);
  if (page.isLast) return page;
  const whole = beginOfAppend(page.events, page.events.length - 1);
  return whole > 0 ? beginningOf(page, whole) : readAppend(readAll, after, 2 * limit);
};

/** One whole append; or, if its end is not found, more of the log than one append can hold. */
const readAppend = async (readAll: ReadAll, after: Position, limit: number): Promise<LogPage> => {
  for (let asked = limit; ; asked *= 2) {
    const page = await readPage(readAll, after, asked);
    const next = page.events.findIndex(
      (event, index) => index > 0 && !isContinued(page.events[index - 1] as RecordedEvent, event),
    );
    if (next > 0) return beginningOf(page, next);
    if (page.isLast || sizeOf(page.events) > APPEND_LIMIT_BYTES) return page;
  }
};

const beginningOf = ({ events }: LogPage, count: number): LogPage => ({
  events: events.slice(0, count),
  isLast: false,
});

/**
 * Index of the first event that was appended together with the one at `index`; 0 if that append began before `events`.
 * The events follow each other in the log.
 *
 * No store keeps which events came in one append, and a copy of the log may group them differently. So events of one
 * append are recognised by their metadata: all events of one command share it (`encodeEvents`), and no other command's
 * events have it, in logs of every version (docs/adr/0018-rows-stand-between-appends.md). The metadata of a deed names
 * the deed's own source, so every deed counts as an append by itself.
 */
export const beginOfAppend = (events: readonly RecordedEvent[], index: number): number => {
  let begin = index;
  while (begin > 0 && isContinued(events[begin - 1] as RecordedEvent, events[begin] as RecordedEvent)) begin -= 1;
  return Math.max(0, begin);
};

const isContinued = (event: RecordedEvent, next: RecordedEvent): boolean =>
  next.stream === event.stream && next.revision === event.revision + 1 && next.metadata === event.metadata;

/** In characters, whose number is never larger than that of the bytes. */
const sizeOf = (events: readonly RecordedEvent[]): number =>
  events.reduce((sum, { type, data, metadata }) => sum + type.length + data.length + metadata.length, 0);
