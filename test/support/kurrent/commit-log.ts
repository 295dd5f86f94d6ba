export interface ProposedEvent {
  readonly id: string;
  readonly type: string;
  readonly isJson: boolean;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

export interface LoggedEvent extends ProposedEvent {
  readonly stream: string;
  readonly revision: number;
  /** Where its record begins, in bytes. */
  readonly position: number;
  readonly createdMs: number;
}

export type Expected = number | 'no_stream' | 'stream_exists' | 'any';

export type Decision =
  | { readonly kind: 'written' | 'repeated'; readonly revision: number; readonly position: number }
  /** -1 when the stream does not exist. */
  | { readonly kind: 'wrong_version'; readonly current: number };

const FIRST_POSITION = 548;
const RECORD_FRAME_BYTES = 120;
const APPENDS_PER_SYSTEM_EVENT = 7;
const NO_STREAM = -1;
const DELETED = Number.MAX_SAFE_INTEGER;

/** What metadata of a stream say of its beginning. */
interface Cut {
  readonly $tb?: number;
  readonly $maxCount?: number;
}

/** What a server has on its disk: every event in one order, at the byte offset of its record. */
export class CommitLog {
  /** Streams whose events are in the log and not read yet. */
  readonly unread = new Set<string>();
  private events: LoggedEvent[] = [];
  private readonly streams = new Map<string, LoggedEvent[]>();
  /** What an append that expects nothing is recognised by: lost with the process. */
  private readonly recentById = new Map<string, LoggedEvent>();
  private readonly tombstoned = new Set<string>();
  private readonly listeners = new Set<() => void>();
  private appends = 0;
  private end = FIRST_POSITION;

  constructor(private readonly hasSystemEvents: boolean) {
    if (hasSystemEvents) this.appendSystemEvent();
  }

  get all(): readonly LoggedEvent[] {
    return this.events;
  }

  /** Position of the record that will be next. */
  get endPosition(): number {
    return this.end;
  }

  /** As far as its metadata let it be read: what they cut off is a hole. Undefined when there is none, or it was deleted. */
  stream(name: string): readonly (LoggedEvent | undefined)[] | undefined {
    const first = this.firstReadable(name);
    return first === DELETED
      ? undefined
      : this.streams.get(name)?.map((event, index) => (index < first ? undefined : event));
  }

  isTombstoned(name: string): boolean {
    return this.tombstoned.has(name);
  }

  /** It stays in $all, and an append that expects no stream begins another one where it ended. */
  delete(stream: string): void {
    this.writeMetadata(stream, { $tb: DELETED });
  }

  tombstone(stream: string): void {
    this.tombstoned.add(stream);
  }

  /** As `CheckCommit` of the server's IndexWriter decides. */
  append(stream: string, expected: Expected, proposed: readonly ProposedEvent[]): Decision {
    const existing = this.streams.get(stream) ?? [];
    const current = existing.length - 1;
    const wrongVersion = { kind: 'wrong_version', current } as const;
    if (expected === 'stream_exists' && current === NO_STREAM) return wrongVersion;
    const known = this.known(existing, expected, proposed);
    const last = known.at(-1);
    if (last && known.length === proposed.length) {
      return { kind: 'repeated', revision: last.revision, position: last.position };
    }
    const isPartlyNew = last !== undefined;
    const isBegunAnew = expected === 'no_stream' && this.firstReadable(stream) === DELETED;
    const expectedRevision = isBegunAnew ? current : (revisionOf(expected) ?? current);
    if (isPartlyNew || expectedRevision !== current) return wrongVersion;
    if (isBegunAnew) this.writeMetadata(stream, { $tb: current + 1 });
    return { kind: 'written', ...this.write(stream, proposed) };
  }

  appendSystemEvent(): void {
    const data = Buffer.from('{"proc-id":1}');
    const event = { id: crypto.randomUUID(), type: '$statsCollected', isJson: true, data, metadata: Buffer.of() };
    this.write('$stats-127.0.0.1:2113', [event]);
  }

  /** Index of the first event after a position. */
  indexAfter(position: number): number {
    let [from, to] = [0, this.events.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.events[middle]!.position <= position) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  /** Positions that nothing follows are never looked at; among the others only beginnings of records are any. */
  isReadableFrom(position: number): boolean {
    const before = this.events[this.indexAfter(position) - 1];
    return position <= 0 || before?.position === position || before === this.events.at(-1);
  }

  onAppended(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Forgets what only a process knows. */
  reopen(): void {
    this.recentById.clear();
  }

  rewind(position: number): void {
    const kept = this.events.slice(0, this.indexAfter(position));
    const forgotten = this.events[kept.length];
    if (forgotten) this.end = forgotten.position;
    this.events = [];
    this.streams.clear();
    kept.forEach((event) => this.index(event));
  }

  copy(): CommitLog {
    const copy = new CommitLog(false);
    this.events.forEach((event) => copy.index(event));
    copy.end = this.end;
    return copy;
  }

  /** Those at the head of an append that are already where they would go. */
  private known(existing: readonly LoggedEvent[], expected: Expected, proposed: readonly ProposedEvent[]) {
    const revision = revisionOf(expected);
    const found = proposed.map(({ id }, index) => {
      const event = revision === null ? this.recentById.get(id) : existing[revision + 1 + index];
      return event?.id === id && event.stream === existing[0]?.stream ? event : undefined;
    });
    const unknown = found.indexOf(undefined);
    return (unknown === -1 ? found : found.slice(0, unknown)) as LoggedEvent[];
  }

  private firstReadable(stream: string): number {
    const latest = this.streams.get(`$$${stream}`)?.at(-1);
    if (!latest) return 0;
    const { $tb = 0, $maxCount = Infinity } = JSON.parse(Buffer.from(latest.data).toString()) as Cut;
    return $tb === DELETED ? DELETED : Math.max($tb, (this.streams.get(stream)?.length ?? 0) - $maxCount);
  }

  private writeMetadata(stream: string, cut: Cut): void {
    const data = Buffer.from(JSON.stringify(cut));
    const event = { id: crypto.randomUUID(), type: '$metadata', isJson: true, data, metadata: Buffer.of() };
    this.write(`$$${stream}`, [event]);
  }

  private write(stream: string, proposed: readonly ProposedEvent[]): { revision: number; position: number } {
    // An append without events leaves a record all the same.
    let position = this.end;
    if (proposed.length === 0) this.end += RECORD_FRAME_BYTES;
    for (const event of proposed) {
      position = this.end;
      const revision = this.streams.get(stream)?.length ?? 0;
      this.index({ ...event, stream, revision, position, createdMs: Date.now() });
      this.end += RECORD_FRAME_BYTES + stream.length + event.type.length + event.data.length + event.metadata.length;
    }
    const revision = Math.max(0, (this.streams.get(stream)?.length ?? 0) - 1);
    if (!stream.startsWith('$')) this.countAppend();
    this.listeners.forEach((listener) => listener());
    return { revision, position };
  }

  private countAppend(): void {
    this.appends += 1;
    if (this.hasSystemEvents && this.appends % APPENDS_PER_SYSTEM_EVENT === 0) this.appendSystemEvent();
  }

  private index(event: LoggedEvent): void {
    const stream = this.streams.get(event.stream) ?? [];
    stream.push(event);
    this.streams.set(event.stream, stream);
    this.events.push(event);
    this.recentById.set(event.id, event);
  }
}

/** Null for an expectation that does not name one. */
const revisionOf = (expected: Expected): number | null => {
  if (expected === 'no_stream') return NO_STREAM;
  return typeof expected === 'number' ? expected : null;
};
