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
} from '#libs/domain/kernel';
import { TransientMap } from '../../runtime/index.js';
import { answered, isPassing, isRefusedStatement, translateDatabaseError } from '../../postgres/index.js';
import { checkInCommit, expectedRevisionOf, revisionNumber } from '../append-rules.js';
import type { AppendInCommit } from '../transactional-appends.js';
import type { AppendFunctions } from './append-functions.js';
import { type Departure, statementOf, trialStatement } from './append-statement.js';

const MAX_BATCH_APPENDS = 256;
const MAX_BATCH_BYTES = 1_000_000;
/** With more waiting appends the store is far behind, and a longer queue would only add to the delay. */
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
  /** How long an append is retried while the server does not answer. */
  readonly deadlineMs: number;
  /** What writes payloads and companions; null if nothing does, so that appends have neither. */
  readonly functions: AppendFunctions | null;
}

/** What the answer to one call shows about the log. */
export interface AnsweredCall {
  /**
   * All events that the call wrote, in order of position; empty if an append met a conflict, because then not all
   * positions are known.
   */
  readonly events: readonly RecordedEvent[];
  /** Events that are in the log: at least the last event of every append that succeeded. */
  readonly found: readonly RecordedEvent[];
}

export interface AppenderListener {
  /** Called once for the appends of a call, before the first try; null if the call can have no companions. */
  onDeparture(appends: readonly Append[]): Departure | null;
  /** Called before the callers get their results. */
  onAnswered(answered: AnsweredCall): void;
  /** Called for every call that the store did not answer, or answered with an error that its values did not cause. */
  onFailed(error: unknown): void;
}

/** An append that waits for its result. It settles once, with its result or at its deadline. */
class Waiting {
  readonly result: Promise<AppendResult>;
  readonly bytes: number;
  isSettled = false;
  /** The store's last error for this append, which may pass. */
  refusal: unknown = null;
  private resolve: (result: AppendResult) => void = () => undefined;
  private reject: (error: unknown) => void = () => undefined;
  private readonly timer: NodeJS.Timeout;

  constructor(
    readonly append: AppendInCommit,
    { deadlineMs, functions }: AppenderOptions,
  ) {
    const bytes = checkInCommit(append, functions !== null);
    this.bytes = bytes + (append.payloads ?? []).reduce(addBody, 0);
    this.result = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.timer = setTimeout(() => this.fail(this.lateness(deadlineMs)), deadlineMs);
  }

  /**
   * The error for the deadline: the store's last error if it answered each time with one, else that there was no
   * answer.
   */
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
 * The appends that may share a call: none of them writes to a stream that another one requires. Of two that conflict,
 * the one that came first goes first; the other keeps its place in the queue for the next call.
 */
class Company {
  private readonly written = new Set<string>();
  private readonly required = new Set<string>();

  admits({ stream, requires }: AppendInCommit): boolean {
    const isAtOdds = this.required.has(stream) || [...(requires?.keys() ?? [])].some((each) => this.written.has(each));
    if (isAtOdds) return false;
    this.written.add(stream);
    for (const each of requires?.keys() ?? []) this.required.add(each);
    return true;
  }
}

/**
 * Sends all appends that wait at the same moment in one call, with one commit. Each gets its own answer, and a refused
 * one does not affect the others. After an unclear failure the very same append is sent again until the deadline: the
 * store recognises by the ids an append that it had written.
 */
export class CoalescingAppender {
  /** Streams in order of arrival, each with its appends in order. A call takes at most one append of each stream. */
  private readonly waiting = new TransientMap<Waiting[]>();
  private waitingCount = 0;
  private draining: Promise<void> | null = null;
  private isClosed = false;

  /** @param pool a pool of one connection, which only this appender uses */
  constructor(
    private readonly pool: pg.Pool,
    private readonly options: AppenderOptions,
    private readonly listener: AppenderListener,
  ) {}

  append(append: AppendInCommit): Promise<AppendResult> {
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

  /** Takes no more appends and waits for those under way. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.draining;
  }

  private async drain(): Promise<void> {
    // Appends of the same turn of the event loop go in one call.
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

  /** Removes the first append of a stream from the queue; its other appends queue up behind the other streams. */
  private passOn(stream: string): void {
    const rest = this.waiting.get(stream)?.slice(1) ?? [];
    this.waiting.delete(stream);
    if (rest.length > 0) this.waiting.set(stream, rest);
  }

  private async deliver(batch: readonly Waiting[]): Promise<void> {
    const due = batch.filter((waiting) => !waiting.isSettled);
    if (due.length > 0) await this.tryUntilSettled(due, this.listener.onDeparture(due.map(({ append }) => append)));
  }

  /** Retries carry no companions: if the first try was committed, its companions were too. */
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
        // The refused values may be those of one append among several, or of a companion. So each append is sent alone.
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
   * Checks that an append would be recorded now, by a statement that writes one and rolls it back.
   * @throws {StoreUnavailable} when it would not; the message says why
   */
  async requireAppends(): Promise<void> {
    await answered(this.pool.query(trialStatement()));
  }

  private async send(batch: readonly Waiting[], departure: Departure | null): Promise<void> {
    const appends = batch.map(({ append }) => append);
    const { rows } = await this.pool.query<OutcomeRow>(statementOf(appends, departure, this.options.functions));
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

/** The events of appends as they are, or would be, recorded right behind a position. */
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
