import type { Append, AppendResult, Position, RecordedEvent } from './event-store.port.js';
import type { Payload } from './payload.js';

/**
 * An append and what belongs to it (docs/adr/0028): a payload that its events name, the revisions at which other
 * streams must stand, and companions, which are appends of another party. There are two ways, and which of them a
 * deployment has is chosen where it is wired, so that no caller asks:
 *
 * - `TransactionalAppends`: the log is in PostgreSQL beside the rows of the service, and one commit does it all;
 * - `SequentialAppends`: the log is elsewhere, and each part is done after the other, in an order that a crash cannot
 * harm.
 *
 * Both are in libs/infra/src/event-store. One contract suite runs against each:
 * test/contracts/compound-appends.contract.ts.
 */
export abstract class CompoundAppends {
  /**
   * Idempotent as {@link EventStore.append} is, if nothing is required. In one transaction, what is required is not
   * looked at again for an append that was written before and is sent again. Elsewhere it is, so whoever is told
   * {@link RequirementMoved} looks first whether its events are there.
   * @throws {RequirementMoved} when a required stream is at another revision; the payload may be stored then, and is
   * inert
   * @throws {RevisionConflict} {AppendTooLarge} {StoreUnavailable} as {@link EventStore.append}; the payload may be
   * stored then, and is inert
   */
  abstract append(append: Append, along: Along): Promise<AppendResult>;

  /**
   * Lets a party add {@link Companions} to what this process appends, until the returned function is called. Companions
   * are written only if every append that they accompany is written, and no other process has written since this
   * process last saw the end of the log. There is one party at a time. Where the parts of an append are written one
   * after the other, no party is ever asked.
   * @param onError called when `accompany` threw; the appends go without companions
   */
  abstract accompany(accompany: Accompany, onError: (error: unknown) => void): () => void;
}

export interface Along {
  /** A payload that the events name by digest. It is stored no later than the events. */
  readonly payload?: Payload | null;
  /**
   * Other streams that must be at these revisions, or nothing is written. In one transaction they are looked at by the
   * commit. Elsewhere they are looked at right before the append, so one may move in between: a decision that must not
   * miss that is not made from remembered states ({@link AssumableStates}).
   */
  readonly requires?: ReadonlyMap<string, number> | null;
}

/** A stream is not at the revision that an append required. This call has written no event. */
export class RequirementMoved extends Error {
  override readonly name = 'RequirementMoved';
  constructor(readonly stream: string) {
    super(`a stream that the append to ${stream} requires is elsewhere`);
  }
}

/**
 * Appends that are about to leave for the store in one call. What its methods answer holds only until the current
 * synchronous code ends, because after that other events may be read or written.
 */
export interface DepartingAppends {
  /**
   * The events of these appends, with the revisions and positions that they get if no other process writes first; in
   * order of position.
   */
  readonly events: readonly RecordedEvent[];
  /** The events between a position and these appends; null if this process does not know all of them. */
  since(position: Position): readonly RecordedEvent[] | null;
  /**
   * The first `count` events of a stream that lie before these appends; null if this process does not know all of them.
   */
  beginningOf(stream: string, count: number): readonly RecordedEvent[] | null;
}

/** Additional appends that are written in the same commit as departing ones and right behind them, or not at all. */
export interface Companions {
  /** Each writes to a stream that no other append of the call writes to. */
  readonly appends: readonly Append[];
  /** Streams that must stand at these revisions before the call; otherwise the companions are left out. */
  readonly requires: ReadonlyMap<string, number>;
  /** Called with the outcome, before the callers of the accompanied appends get their results. */
  readonly ended: (end: CompanionsEnd) => void;
}

/** `left_out`: certainly not written. `unclear`: they may or may not stand in the log. */
export type CompanionsEnd = 'written' | 'left_out' | 'unclear';

/**
 * Called with all appends of one call at the moment they leave. It must be synchronous, because the appends would wait
 * for it. Null: the appends go without companions.
 */
export type Accompany = (departing: DepartingAppends) => Companions | null;
