import { categoryOf, START, streamRef, type EventStore, type Position, type RecordedEvent } from '../kernel/index.js';
import { actionDecider } from './action.decider.js';
import type { ActionEvent } from './action.events.js';
import type { OpenExecutions } from './recovery.ports.js';

const READY: ActionEvent['type'] = 'ExecutionReady';
const FINISHED: ActionEvent['type'] = 'ExecutionFinished';
const WITNESSED: ActionEvent['type'] = 'ActionWitnessed';

/**
 * The oldest unfinished execution is among the first rows, if there is any. Where nothing runs, the look ends there.
 */
const FIRST_PAGE = 16;
const PAGE = 1_000;

export interface LookAtExecutions {
  /** The end of the log when the look begins: nothing beyond it is looked at. */
  readonly upTo: Position;
  /**
   * Asked of events in their order, also of some that are no part of the answer. The look ends before the first event
   * of which it is true.
   */
  readonly endsBefore: (recorded: RecordedEvent) => boolean;
}

/**
 * Calls that were allowed and whose execution, or the read that confirms it, has not ended, by the word of the log. The processes that execute fold
 * the table of open executions. Where none of them runs the table stands still: so what the log holds beyond it is read
 * here, and its rows are confirmed.
 */
export class UnfinishedExecutions {
  /** Up to here every execution that is not in the table has ended. */
  private endedUpTo: Position = START;

  constructor(
    private readonly store: Pick<EventStore, 'readAll' | 'readStream'>,
    private readonly open: Pick<OpenExecutions, 'list' | 'foldedUpTo'>,
  ) {}

  /** Each by the event that made it ready, in the order in which they were submitted. */
  async *inOrder({ upTo, endsBefore }: LookAtExecutions): AsyncGenerator<RecordedEvent, void> {
    const foldedUpTo = await this.open.foldedUpTo();
    for await (const stream of this.listed(foldedUpTo)) {
      const [submitted] = stream;
      // A row of a log that was lost.
      if (!submitted) continue;
      if (submitted.position > upTo || endsBefore(submitted)) return;
      const ready = unfinishedIn(stream);
      // An execution that became ready beyond that is found below.
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
    // The log may end beyond its last event.
    if (haveAllEnded && this.endedUpTo < upTo) this.endedUpTo = upTo;
  }

  private async isUnfinished(stream: string): Promise<boolean> {
    return unfinishedIn(await this.store.readStream(stream)) !== null;
  }
}

const isReady = ({ stream, type }: RecordedEvent): boolean =>
  type === READY && categoryOf(stream) === actionDecider.category;

/** By the types of the events almost alone, so that one that cannot be read hides nothing. */
const unfinishedIn = (stream: readonly RecordedEvent[]): RecordedEvent | null =>
  stream.some(isEnd) ? null : (stream.find(isReady) ?? null);

/** An outcome whose witness waits for a read is no end; that witness is. */
const isEnd = ({ type, data }: RecordedEvent): boolean =>
  type === WITNESSED || (type === FINISHED && !awaitsRead(data));

const awaitsRead = (data: string): boolean => {
  if (!data.includes('"read_back"')) return false;
  try {
    return (JSON.parse(data) as { read_back?: unknown } | null)?.read_back !== undefined;
  } catch {
    return false;
  }
};
