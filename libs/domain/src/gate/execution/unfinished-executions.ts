import {
  categoryOf,
  START,
  streamRef,
  type EventStore,
  type Position,
  type RecordedEvent,
} from '../../kernel/index.js';
import { actionDecider, type ActionEvent } from '../action/index.js';
import type { OpenExecutions } from './recovery.ports.js';

const READY: ActionEvent['type'] = 'ExecutionReady';
const FINISHED: ActionEvent['type'] = 'ExecutionFinished';
const WITNESSED: ActionEvent['type'] = 'ActionWitnessed';

/**
 * The first page is small, because the oldest unfinished execution, if there is one, is usually in it, and callers
 * often need no other.
 */
const FIRST_PAGE = 16;
const PAGE = 1_000;

export interface LookAtExecutions {
  /** The end of the log at the start of the search. Later events are ignored. */
  readonly upTo: Position;
  /**
   * Ends the search before the first event for which it returns true. Called in the order of events, also for events
   * that are not part of the result.
   */
  readonly endsBefore: (recorded: RecordedEvent) => boolean;
}

/**
 * Finds allowed calls whose execution, read-back or wait for the change log has not ended, according to the log. The table of open executions is
 * folded by the processes that execute, so it stands still while none of them runs. Therefore the log beyond the
 * table's checkpoint is read here, and the table's rows are checked against their streams.
 */
export class UnfinishedExecutions {
  /** Up to this position, every execution that is not in the table has ended. */
  private endedUpTo: Position = START;

  constructor(
    private readonly store: Pick<EventStore, 'readAll' | 'readStream'>,
    private readonly open: Pick<OpenExecutions, 'list' | 'foldedUpTo'>,
  ) {}

  /** The `ExecutionReady` events of unfinished executions, in the order of their submissions. */
  async *inOrder({ upTo, endsBefore }: LookAtExecutions): AsyncGenerator<RecordedEvent, void> {
    const foldedUpTo = await this.open.foldedUpTo();
    for await (const stream of this.listed(foldedUpTo)) {
      const [submitted] = stream;
      // The row is left over from a log that was lost (restored to an earlier state).
      if (!submitted) continue;
      if (submitted.position > upTo || endsBefore(submitted)) return;
      const ready = unfinishedIn(stream);
      // An execution that became ready after `foldedUpTo` is found by `logged` below.
      if (ready !== null && ready.position <= foldedUpTo) yield ready;
    }
    yield* this.logged(foldedUpTo, { upTo, endsBefore });
  }

  private async *listed(foldedUpTo: Position): AsyncGenerator<readonly RecordedEvent[], void> {
    let after = START;
    for (let limit = FIRST_PAGE; ; limit = PAGE) {
      const page = await this.open.list(after, limit);
      for (const { action, opened } of page) {
        if (opened > foldedUpTo) return;
        yield await this.store.readStream(streamRef(actionDecider, action).stream);
        after = opened;
      }
      if (page.length < limit) return;
    }
  }

  private async *logged(
    foldedUpTo: Position,
    { upTo, endsBefore }: LookAtExecutions,
  ): AsyncGenerator<RecordedEvent, void> {
    let haveAllEnded = true;
    let after = foldedUpTo < this.endedUpTo ? this.endedUpTo : foldedUpTo;
    for (let limit = FIRST_PAGE; after < upTo; limit = PAGE) {
      const page = await this.store.readAll(after, limit);
      const finished = new Set(page.filter(isEnd).map(({ stream }) => stream));
      for (const recorded of page) {
        if (recorded.position > upTo || endsBefore(recorded)) return;
        if (isReady(recorded) && !finished.has(recorded.stream) && (await this.isUnfinished(recorded.stream))) {
          haveAllEnded = false;
          yield recorded;
        }
        if (haveAllEnded) this.endedUpTo = recorded.position;
      }
      after = page.at(-1)?.position ?? upTo;
    }
    // `upTo` may lie beyond the last event.
    if (haveAllEnded && this.endedUpTo < upTo) this.endedUpTo = upTo;
  }

  private async isUnfinished(stream: string): Promise<boolean> {
    return unfinishedIn(await this.store.readStream(stream)) !== null;
  }
}

const isReady = ({ stream, type }: RecordedEvent): boolean =>
  type === READY && categoryOf(stream) === actionDecider.category;

/**
 * Looks at little more than the types of events, so that an event that cannot be decoded does not hide an unfinished
 * execution.
 */
const unfinishedIn = (stream: readonly RecordedEvent[]): RecordedEvent | null =>
  stream.some(isEnd) ? null : (stream.find(isReady) ?? null);

/** Whether the event ends the execution: an outcome whose witness waits for nothing, or the witness itself. */
const isEnd = ({ type, data }: RecordedEvent): boolean =>
  type === WITNESSED || (type === FINISHED && !awaitsWitness(data));

const awaitsWitness = (data: string): boolean => {
  if (!data.includes('"read_back"') && !data.includes('"change_log"')) return false;
  try {
    const finished = JSON.parse(data) as { read_back?: unknown; change_log?: unknown } | null;
    return finished?.read_back !== undefined || finished?.change_log !== undefined;
  } catch {
    return false;
  }
};
