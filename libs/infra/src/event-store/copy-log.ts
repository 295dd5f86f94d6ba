import {
  type Append,
  APPEND_LIMIT_BYTES,
  type EventStore,
  type NewEvent,
  type Position,
  type RecordedEvent,
  START,
} from '#libs/domain/kernel';
import { STORE_STREAM } from './store-id.js';

const PAGE_EVENTS = 1_000;
/** The most appends that are sent together. */
const APPENDS_AT_ONCE = 200;

/** The target holds something other than the beginning of the source. Nothing was written after that was found. */
export class LogsDiffer extends Error {
  override readonly name = 'LogsDiffer';
  constructor(place: string) {
    super(
      `The target holds another log: ${place} is not what the source has there. Give a store in which nothing was ever written, ` +
        'or the one that an earlier run of this command has begun.',
    );
  }
}

/** The source was written to while it was copied: the target holds its beginning, and lacks the rest. */
export class SourceWentOn extends Error {
  override readonly name = 'SourceWentOn';
  constructor() {
    super(
      'The source was written to while it was copied, so the target does not have all of it. Stop all processes of the ' +
        'service, then run this again: it goes on where it ended.',
    );
  }
}

export interface CopyProgress {
  readonly step: 'comparing' | 'copying';
  readonly events: number;
  /** The share of the source's log that is done, from 0 to 1. */
  readonly share: number;
}

export interface LogCopy {
  readonly events: number;
  /** How many of them this run copied; the target had the others already. */
  readonly copied: number;
  /** The store id of the target, which is not that of the source. */
  readonly storeId: string;
  /** Position in the source of the last event that was copied. */
  readonly end: Position;
}

export type LogSource = Pick<EventStore, 'head' | 'readAll'>;
export type LogTarget = Pick<EventStore, 'append' | 'readAll' | 'storeId'>;

export interface CopyLogOptions {
  readonly source: LogSource;
  readonly target: LogTarget;
  /**
   * `together` is only for a target that writes appends in the order in which they are sent, as PostgreSQL does: many
   * share one commit.
   */
  readonly sending: 'together' | 'one_by_one';
  readonly onProgress: (progress: CopyProgress) => void;
  /**
   * Called between batches. It throws to end the copy; a later call of {@link copyLog} continues where this one ended.
   */
  readonly mayGoOn: () => void;
}

/**
 * Makes the target's log the same as the source's: every event in its order, with its stream, revision, id and bytes.
 * Only the stream that holds the store id differs: positions are new in the target, and by its own id rows that hold
 * old positions become void. Events that the target already has are compared and kept, so that an interrupted copy can
 * continue. At the end the whole target is read back and compared. Nobody else may write to either store meanwhile.
 *
 * @throws {LogsDiffer} when the target holds something other than the beginning of the source
 * @throws {SourceWentOn} when the source was written to meanwhile
 */
export const copyLog = async (options: CopyLogOptions): Promise<LogCopy> => {
  const { source, target, onProgress, mayGoOn } = options;
  const compare = () => comparedLength(options);
  const begun = await compare();
  const end = await source.head();
  let events = begun.events;
  for (let after = begun.after; ;) {
    mayGoOn();
    const page = await source.readAll(after, PAGE_EVENTS);
    const last = page.at(-1);
    if (!last) break;
    await append(options, page);
    events += page.length;
    after = last.position;
    onProgress({ step: 'copying', events, share: shareOf(after, end) });
  }
  const whole = await compare();
  if (whole.events !== events) throw new Error(`${events} events were copied, and ${whole.events} are there`);
  await requireEnd(source, whole.after);
  return { events, copied: events - begun.events, storeId: await target.storeId(), end: whole.after };
};

/** @throws {SourceWentOn} when the log has events after `end` */
export const requireEnd = async (source: LogSource, end: Position): Promise<void> => {
  if ((await source.head()) !== end) throw new SourceWentOn();
};

/** How many events from the beginning of the source the target has, and the source's position of the last of them. */
const comparedLength = async ({
  source,
  target,
  onProgress,
  mayGoOn,
}: CopyLogOptions): Promise<{ readonly events: number; readonly after: Position }> => {
  const end = await source.head();
  let events = 0;
  let after = START;
  let found: readonly RecordedEvent[];
  for (let foundAfter = START; (found = await target.readAll(foundAfter, PAGE_EVENTS)).length > 0;) {
    mayGoOn();
    const expected = await source.readAll(after, found.length);
    found.forEach((event, index) => {
      const original = expected[index];
      if (!original || !isSame(original, event)) throw new LogsDiffer(`event ${events + index + 1}`);
    });
    events += found.length;
    after = expected.at(-1)?.position ?? after;
    foundAfter = found.at(-1)?.position ?? foundAfter;
    onProgress({ step: 'comparing', events, share: shareOf(after, end) });
  }
  return { events, after };
};

const isSame = (one: RecordedEvent, other: RecordedEvent): boolean =>
  one.stream === other.stream &&
  one.revision === other.revision &&
  one.type === other.type &&
  (one.stream === STORE_STREAM || (one.id === other.id && one.data === other.data && one.metadata === other.metadata));

/** Writes events in the order of the log. */
const append = async (
  { target, sending }: Pick<CopyLogOptions, 'target' | 'sending'>,
  events: readonly RecordedEvent[],
): Promise<void> => {
  const atOnce = sending === 'together' ? APPENDS_AT_ONCE : 1;
  let gathered: Append[] = [];
  const send = async (): Promise<void> => {
    await Promise.all(gathered.map((some) => target.append(some)));
    gathered = [];
  };
  for (const some of appendsOf(events)) {
    const isOwn = some.stream === STORE_STREAM;
    if (isOwn || gathered.length === atOnce || gathered.some(({ stream }) => stream === some.stream)) await send();
    if (isOwn) await target.storeId();
    else gathered.push(some);
  }
  await send();
};

/** Groups consecutive events of one stream into appends, each as large as an append may be. */
const appendsOf = (events: readonly RecordedEvent[]): readonly Append[] => {
  const appends: { stream: string; expectedRevision: Append['expectedRevision']; events: NewEvent[]; bytes: number }[] =
    [];
  for (const { stream, revision, id, type, data, metadata } of events) {
    const bytes = Buffer.byteLength(type) + Buffer.byteLength(data) + Buffer.byteLength(metadata);
    const last = appends.at(-1);
    if (last?.stream === stream && last.bytes + bytes <= APPEND_LIMIT_BYTES) {
      last.events.push({ id, type, data, metadata });
      last.bytes += bytes;
    } else {
      const expectedRevision = revision === 0 ? 'no_stream' : revision - 1;
      appends.push({ stream, expectedRevision, events: [{ id, type, data, metadata }], bytes });
    }
  }
  return appends;
};

const shareOf = (position: Position, end: Position): number =>
  end <= START ? 1 : Math.min(1, Number(position + 1n) / Number(end + 1n));
