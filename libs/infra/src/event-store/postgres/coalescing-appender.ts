import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import {
  type Append,
  type AppendResult,
  type NewEvent,
  type Payload,
  type Position,
  recordedByWriter,
  type RecordedEvent,
  RequirementMoved,
  RevisionConflict,
  StoreUnavailable,
  TransientMap,
} from '#libs/domain/kernel';
import { answered, isPassing, isRefusedStatement, translateDatabaseError } from '../../postgres/index.js';
import { checkAppend, expectedRevisionOf, revisionNumber } from '../append-rules.js';
import { type Departure, statementOf, trialStatement } from './append-statement.js';

const MAX_BATCH_APPENDS = 256;
const MAX_BATCH_BYTES = 1_000_000;
/** Beyond it the store is far behind, and waiting longer would only add to the pile. */
const MAX_WAITING_APPENDS = 20_000;
const FIRST_RETRY_MS = 10;
const LONGEST_RETRY_MS = 250;

interface OutcomeRow {
  readonly stream: string | null;
  readonly is_recorded: boolean;
  readonly revision: string | null;
  readonly log_position: string | null;
  readonly is_accompanied?: boolean;
}

export interface AppenderOptions {
  /** How long an append is tried while the server does not answer. */
  readonly deadlineMs: number;
  /** The gate's tables are in the same database. */
  readonly storesPayloads: boolean;
}

/** What one call to the store has shown. */
export interface AnsweredCall {
  /** All that it wrote, in order of position; none where an append met a conflict, and the places are not all known. */
  readonly events: readonly RecordedEvent[];
  /** Events that stand in the log: of every append that is answered with success at least the last. */
  readonly found: readonly RecordedEvent[];
}

export interface AppenderListener {
  /** Asked once about appends that depart; null where nobody may go with them. */
  onDeparture(appends: readonly Append[]): Departure | null;
  /** Told before the callers are. */
  onAnswered(answered: AnsweredCall): void;
  /** Told of every call that the store did not answer, or answered with an error that is no matter of its values. */
  onFailed(error: unknown): void;
}

/** An append on its way; it settles once, by its result or by its deadline. */
class Waiting {
  readonly result: Promise<AppendResult>;
  readonly bytes: number;
  isSettled = false;
  /** What the store last said of it, which may pass. */
  refusal: unknown = null;
  private resolve: (result: AppendResult) => void = () => undefined;
  private reject: (error: unknown) => void = () => undefined;
  private readonly timer: NodeJS.Timeout;

  constructor(
    readonly append: Append,
    { deadlineMs, storesPayloads }: AppenderOptions,
  ) {
    const bytes = checkAppend(append, { storesPayloads, canRequire: true });
    this.bytes = bytes + (append.payloads ?? []).reduce(addBody, 0);
    this.result = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.timer = setTimeout(() => this.fail(this.lateness(deadlineMs)), deadlineMs);
  }

  /** What kept it: the server may have answered all the time, and refused it each time. */
  private lateness(deadlineMs: number): unknown {
    if (this.refusal !== null) return translateDatabaseError(this.refusal);
    return new StoreUnavailable(`no answer within ${deadlineMs} ms`);
  }

  succeed(result: AppendResult): void {
    this.settle();
    this.resolve(result);
  }

  fail(error: unknown): void {
    this.settle();
    this.reject(error);
  }

  private settle(): void {
    this.isSettled = true;
    clearTimeout(this.timer);
  }
}

/**
 * Appends that may travel together: what one of them requires to stand still, no other writes to. Who came first goes
 * first; the other keeps its place for the next call.
 */
class Company {
  private readonly written = new Set<string>();
  private readonly required = new Set<string>();

  admits({ stream, requires }: Append): boolean {
    const isAtOdds = this.required.has(stream) || [...(requires?.keys() ?? [])].some((each) => this.written.has(each));
    if (isAtOdds) return false;
    this.written.add(stream);
    for (const each of requires?.keys() ?? []) this.required.add(each);
    return true;
  }
}

/**
 * Sends the appends that wait at the same moment in one call: one commit for all of them. Each gets its own answer; a
 * refused one never takes its neighbours along. An unclear failure is followed by the very same append until the deadline:
 * the store recognises the ids of an append that had been written.
 */
export class CoalescingAppender {
  /** Streams in order of arrival, each with its appends in order: a batch takes at most one of a stream. */
  private readonly waiting = new TransientMap<Waiting[]>();
  private waitingCount = 0;
  private draining: Promise<void> | null = null;
  private isClosed = false;

  /** @param pool one connection, for this alone */
  constructor(
    private readonly pool: pg.Pool,
    private readonly options: AppenderOptions,
    private readonly listener: AppenderListener,
  ) {}

  append(append: Append): Promise<AppendResult> {
    if (this.isClosed) throw new StoreUnavailable('the store was closed');
    if (this.waitingCount >= MAX_WAITING_APPENDS) throw new StoreUnavailable('too many appends are waiting');
    const waiting = new Waiting(append, this.options);
    this.waitingCount += 1;
    const sameStream = this.waiting.get(append.stream);
    if (sameStream) sameStream.push(waiting);
    else this.waiting.set(append.stream, [waiting]);
    this.draining ??= this.drain();
    return waiting.result;
  }

  /** Takes no more and waits for what is under way. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.draining;
  }

  private async drain(): Promise<void> {
    // What is appended in the same turn travels together.
    await Promise.resolve();
    while (this.waiting.size > 0) await this.deliver(this.takeBatch());
    this.draining = null;
  }

  private takeBatch(): readonly Waiting[] {
    const batch: Waiting[] = [];
    let bytes = 0;
    const company = new Company();
    for (const [next] of this.waiting.values()) {
      if (!next || batch.length === MAX_BATCH_APPENDS) break;
      if (batch.length > 0 && bytes + next.bytes > MAX_BATCH_BYTES) break;
      if (!company.admits(next.append)) continue;
      batch.push(next);
      bytes += next.bytes;
    }
    for (const { append } of batch) this.passOn(append.stream);
    this.waitingCount -= batch.length;
    return batch;
  }

  /** Takes the stream's first append out; the rest of them queue up behind the other streams. */
  private passOn(stream: string): void {
    const rest = this.waiting.get(stream)?.slice(1) ?? [];
    this.waiting.delete(stream);
    if (rest.length > 0) this.waiting.set(stream, rest);
  }

  private async deliver(batch: readonly Waiting[]): Promise<void> {
    const due = batch.filter((waiting) => !waiting.isSettled);
    if (due.length > 0) await this.tryUntilSettled(due, this.listener.onDeparture(due.map(({ append }) => append)));
  }

  /** Nobody goes with a second try: where the first one was written after all, so were they. */
  private async tryUntilSettled(batch: readonly Waiting[], first: Departure | null): Promise<void> {
    let [due, departure] = [batch, first];
    for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_RETRY_MS)) {
      const companions = departure?.companions ?? null;
      try {
        await this.send(due, departure);
        return;
      } catch (error) {
        companions?.ended('unclear');
        if (!isRefusedStatement(error)) this.listener.onFailed(error);
        // What was refused may be one of several, or who went with them.
        if ((isRefusedStatement(error) && due.length > 1) || (companions !== null && !isPassing(error))) {
          for (const waiting of due) await this.tryUntilSettled([waiting], null);
          return;
        }
        if (!isPassing(error)) {
          for (const waiting of due) waiting.fail(error);
          return;
        }
        for (const waiting of due) waiting.refusal = error;
        await delay(waitMs);
      }
      departure = null;
      due = due.filter((waiting) => !waiting.isSettled);
      if (due.length === 0) return;
    }
  }

  /**
   * Makes a call that writes and takes it back in one: whether an append would be recorded now.
   * @throws {StoreUnavailable} why not
   */
  async requireAppends(): Promise<void> {
    await answered(this.pool.query(trialStatement()));
  }

  private async send(batch: readonly Waiting[], departure: Departure | null): Promise<void> {
    const appends = batch.map(({ append }) => append);
    const { rows } = await this.pool.query<OutcomeRow>(statementOf(appends, departure));
    const [first] = rows;
    const isAllWritten = first?.stream === null;
    if (isAllWritten) {
      const headBefore = BigInt(first.log_position as string);
      const events =
        departure !== null && departure.head === headBefore ? departure.events : recordedAfter(headBefore, appends);
      const along = first.is_accompanied === true ? (departure?.companions?.appends ?? []) : [];
      const end = events.at(-1)?.position ?? headBefore;
      const written = along.length === 0 ? events : [...events, ...recordedAfter(end, along)];
      this.listener.onAnswered({ events: written, found: written });
      departure?.companions?.ended(along.length === 0 ? 'left_out' : 'written');
      settleAllWritten(batch, headBefore);
    } else {
      this.listener.onAnswered({ events: [], found: lastRecorded(batch, rows) });
      departure?.companions?.ended('left_out');
      settleEach(batch, rows);
    }
  }
}

const addBody = (bytes: number, { body }: Payload): number => bytes + Buffer.byteLength(body);

/** The events of appends that are written, or would be, right behind a position. */
export const recordedAfter = (headBefore: Position, appends: readonly Append[]): readonly RecordedEvent[] => {
  const recorded: RecordedEvent[] = [];
  let position = headBefore;
  for (const append of appends) {
    let revision = revisionNumber(append.expectedRevision);
    for (const event of append.events) {
      revision += 1;
      position += 1n;
      recorded.push(recordedByWriter(event, append.stream, revision, position));
    }
  }
  return recorded;
};

const lastRecorded = (batch: readonly Waiting[], rows: readonly OutcomeRow[]): readonly RecordedEvent[] => {
  const lastEvents = new Map(batch.map(({ append }) => [append.stream, append.events.at(-1) as NewEvent]));
  return rows.flatMap(({ stream, is_recorded: isRecorded, revision, log_position: position }) => {
    const event = isRecorded ? lastEvents.get(stream as string) : undefined;
    return event ? [recordedByWriter(event, stream as string, Number(revision), BigInt(position as string))] : [];
  });
};

const settleAllWritten = (batch: readonly Waiting[], headBefore: bigint): void => {
  let position = headBefore;
  for (const waiting of batch) {
    const { expectedRevision, events } = waiting.append;
    position += BigInt(events.length);
    waiting.succeed({ revision: revisionNumber(expectedRevision) + events.length, position });
  }
};

const settleEach = (batch: readonly Waiting[], rows: readonly OutcomeRow[]): void => {
  const outcomes = new Map(rows.map((row) => [row.stream, row]));
  for (const waiting of batch) {
    const { stream, expectedRevision } = waiting.append;
    const outcome = outcomes.get(stream);
    if (outcome?.is_recorded) {
      waiting.succeed({ revision: Number(outcome.revision), position: BigInt(outcome.log_position as string) });
    } else {
      const standing = Number(outcome?.revision ?? -1);
      const isMoved = standing === revisionNumber(expectedRevision);
      waiting.fail(
        isMoved
          ? new RequirementMoved(stream)
          : new RevisionConflict(stream, expectedRevision, expectedRevisionOf(standing)),
      );
    }
  }
};
