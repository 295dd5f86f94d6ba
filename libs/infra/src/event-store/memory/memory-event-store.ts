import {
  type Accompany,
  type Append,
  type AppendResult,
  type Clock,
  type DepartingAppends,
  EventStore,
  type Position,
  type Randomness,
  type ReadStreamOptions,
  recordedAt,
  type RecordedEvent,
  RequirementMoved,
  RevisionConflict,
  type SeenHeads,
  START,
  type SubscribeOptions,
  type Subscription,
} from '#libs/domain/kernel';
import { SystemClock, SystemRandomness } from '../../runtime/index.js';
import { AccompanyingParty } from '../accompanying-party.js';
import { AppendBell } from '../append-bell.js';
import { checkInCommit, isSendable, expectedRevisionOf, revisionNumber } from '../append-rules.js';
import { LogSubscription } from '../log-subscription.js';
import { isNextOfGapless } from '../recent-events.js';
import { storeIdOf } from '../store-id.js';
import type { AppendInCommit, TransactionalStore } from '../transactional-appends.js';

/** All writers share the bell, so polling never finds anything new; the subscription only needs a value. */
const POLL_INTERVAL_MS = 1_000;

/** For unit tests: it keeps the contract of the port without a server and without durability. */
export class MemoryEventStore extends EventStore implements TransactionalStore, SeenHeads {
  private readonly log: RecordedEvent[] = [];
  private readonly streams = new Map<string, RecordedEvent[]>();
  private readonly bell = new AppendBell();
  private readonly party = new AccompanyingParty();

  constructor(
    private readonly clock: Clock = new SystemClock(),
    private readonly randomness: Randomness = new SystemRandomness(),
  ) {
    super();
  }

  accompany(accompany: Accompany, onError: (error: unknown) => void): () => void {
    return this.party.join(accompany, onError);
  }

  isNext(end: Position, position: Position): boolean {
    return isNextOfGapless(end, position);
  }

  async requireUsable(): Promise<void> {
    await this.head();
  }

  storeId(): Promise<string> {
    return storeIdOf(this, this.clock, this.randomness);
  }

  async append(append: AppendInCommit): Promise<AppendResult> {
    checkInCommit(append, false);
    // The answer comes later than the call, as from a server.
    await Promise.resolve();
    const { stream, expectedRevision } = append;
    const recorded = this.streams.get(stream) ?? [];
    const first = revisionNumber(expectedRevision) + 1;
    if (recorded.length !== first && !isRepeated(append, recorded.slice(first))) {
      throw new RevisionConflict(stream, expectedRevision, expectedRevisionOf(recorded.length - 1));
    }
    if (recorded.length === first) {
      if (!this.areAt(append.requires ?? [])) throw new RequirementMoved(stream);
      this.writeAccompanied(append);
    }
    const revision = first + append.events.length - 1;
    const { position } = this.streams.get(stream)?.[revision] as RecordedEvent;
    return { revision, position };
  }

  readStream(stream: string, options: ReadStreamOptions = {}): Promise<readonly RecordedEvent[]> {
    const recorded = this.streams.get(stream) ?? [];
    const limit = options.limit ?? recorded.length;
    if (options.direction !== 'backwards') {
      const from = options.from ?? 0;
      return Promise.resolve(recorded.slice(from, from + limit));
    }
    const from = options.from ?? recorded.length - 1;
    return Promise.resolve(
      recorded
        .slice(0, from + 1)
        .reverse()
        .slice(0, limit),
    );
  }

  heads(streams: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return Promise.resolve(this.seenHeads(streams));
  }

  seenHeads(streams: readonly string[]): ReadonlyMap<string, number> {
    const heads = new Map<string, number>();
    for (const stream of streams) {
      const recorded = this.streams.get(stream);
      if (recorded) heads.set(stream, recorded.length - 1);
    }
    return heads;
  }

  head(): Promise<Position> {
    return Promise.resolve(this.log.at(-1)?.position ?? START);
  }

  readAll(after: Position, limit: number): Promise<readonly RecordedEvent[]> {
    const from = Number(after) + 1;
    return Promise.resolve(this.log.slice(from, from + limit));
  }

  subscribeToAll(options: SubscribeOptions): Subscription {
    return new LogSubscription(
      {
        readAll: (after, limit) => this.readAll(after, limit),
        bell: this.bell,
        isNext: isNextOfGapless,
        pollIntervalMs: POLL_INTERVAL_MS,
      },
      options,
    );
  }

  private writeAccompanied(append: Append): void {
    const companions = this.party.isThere ? this.party.companionsOf(this.departing(append)) : null;
    const requires = [
      ...(companions?.requires ?? []),
      ...(companions?.appends ?? []).map((each) => [each.stream, revisionNumber(each.expectedRevision)] as const),
    ];
    const areWritten = (companions?.appends ?? []).every(isSendable) && this.areAt(requires);
    this.write(append);
    if (areWritten) companions?.appends.forEach((each) => this.write(each));
    companions?.ended(areWritten ? 'written' : 'left_out');
    this.bell.ring();
  }

  private areAt(revisions: Iterable<readonly [stream: string, revision: number]>): boolean {
    return [...revisions].every(([stream, revision]) => (this.streams.get(stream)?.length ?? 0) - 1 === revision);
  }

  private departing({ stream, expectedRevision, events }: Append): DepartingAppends {
    const [revision, position] = [revisionNumber(expectedRevision) + 1, this.log.length];
    return {
      events: events.map((event, index) => recordedAt(event, stream, revision + index, BigInt(position + index))),
      since: (after) => this.log.slice(Number(after) + 1),
      beginningOf: (name, count) => {
        const known = this.streams.get(name) ?? [];
        return known.length < count ? null : known.slice(0, count);
      },
    };
  }

  private write({ stream, events }: Append): void {
    const recorded = this.streams.get(stream) ?? [];
    for (const event of events) {
      const written = Object.freeze(recordedAt(event, stream, recorded.length, BigInt(this.log.length)));
      recorded.push(written);
      this.log.push(written);
    }
    this.streams.set(stream, recorded);
  }
}

/** Whether the whole append is in the stream already, because an earlier try of it succeeded. */
const isRepeated = ({ events }: Append, standing: readonly RecordedEvent[]): boolean =>
  events.every(({ id }, index) => standing[index]?.id === id);
