import {
  EventStore,
  failpoint,
  isFailpointArmed,
  StoreUnavailable,
  type Accompany,
  type Append,
  type AppendResult,
  type Failpoint,
  type Position,
  type ReadStreamOptions,
  type RecordedEvent,
  type SubscribeOptions,
  type Subscription,
} from '#libs/domain/kernel';
import { inTime } from '../runtime/index.js';
import { STORE_DEADLINE_MS } from './store-deadline.js';
import type { TransactionalStore } from './transactional-appends.js';

type Points = readonly [before: Failpoint, answered: Failpoint];

const CHECKPOINT: Points = ['ckpt.made', 'ckpt.made.ack'];

/**
 * By the type of an append's first event: the failpoint before the append is written, and the one before it is
 * answered. A checkpoint goes with what is said of its keys.
 */
const APPENDS: Readonly<Record<string, Points>> = {
  ActionSubmitted: ['gate.t1', 'gate.t1.ack'],
  ExecutionStarted: ['exec.t3', 'exec.t3.ack'],
  ExecutionFinished: ['exec.t4', 'exec.t4.ack'],
  ActionWitnessed: ['exec.t5', 'exec.t5.ack'],
  DeedSealed: ['seal.signed', 'seal.ack'],
  CheckpointKeyAnnounced: CHECKPOINT,
  CheckpointKeyWithdrawn: CHECKPOINT,
  CheckpointMade: CHECKPOINT,
  CheckpointCosigned: ['wit.cosigned', 'wit.cosigned.ack'],
};

const SEALING = ['seal.before', 'seal.signed', 'seal.ack'] as const;

/**
 * A store whose appends hit failpoints. It wraps the real store only where failpoints may be armed. A delay at a
 * failpoint acts like a slow network on the way to the server or back: at the deadline the caller is told that there is
 * no answer, and the append is written late all the same.
 */
export class EventStoreWithFailpoints extends EventStore {
  /** @param deadlineMs the deadline of the wrapped store */
  constructor(
    private readonly store: EventStore,
    private readonly deadlineMs = STORE_DEADLINE_MS,
  ) {
    super();
  }

  override append(append: Append): Promise<AppendResult> {
    const points = APPENDS[append.events[0]?.type ?? ''];
    if (!points?.some(isFailpointArmed)) return this.store.append(append);
    const answer = this.appendMeeting(points, append);
    // After the deadline nobody awaits this promise any more, so its rejection is handled here.
    answer.catch(() => undefined);
    return inTime(this.deadlineMs, answer, (message) => new StoreUnavailable(message));
  }

  private async appendMeeting([before, answered]: Points, append: Append): Promise<AppendResult> {
    await failpoint(before);
    const result = await this.store.append(append);
    await failpoint(answered);
    return result;
  }

  override storeId(): Promise<string> {
    return this.store.storeId();
  }

  override readStream(stream: string, options?: ReadStreamOptions): Promise<readonly RecordedEvent[]> {
    return this.store.readStream(stream, options);
  }

  override heads(streams: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.store.heads(streams);
  }

  override head(): Promise<Position> {
    return this.store.head();
  }

  override requireUsable(): Promise<void> {
    return this.store.requireUsable();
  }

  override readAll(after: Position, limit: number): Promise<readonly RecordedEvent[]> {
    return this.store.readAll(after, limit);
  }

  override isNext(end: Position, position: Position): boolean {
    return this.store.isNext(end, position);
  }

  override subscribeToAll(options: SubscribeOptions): Subscription {
    return this.store.subscribeToAll(options);
  }
}

/** The same over a store whose commits hold more than the events of an append. */
export class TransactionalStoreWithFailpoints extends EventStoreWithFailpoints implements TransactionalStore {
  constructor(
    private readonly transactional: EventStore & TransactionalStore,
    deadlineMs?: number,
  ) {
    super(transactional, deadlineMs);
  }

  /**
   * Adds no companions while a failpoint of sealing is armed. A deed that goes along in another append's commit has no
   * moment of its own at which that failpoint could be hit.
   */
  accompany(accompany: Accompany, onError: (error: unknown) => void): () => void {
    return this.transactional.accompany(
      (departing) => (SEALING.some(isFailpointArmed) ? null : accompany(departing)),
      onError,
    );
  }
}
