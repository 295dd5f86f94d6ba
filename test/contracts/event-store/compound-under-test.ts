import type { CompoundAppends, EventStore, Payload } from '#libs/domain/kernel';

/** One client of a log, and its way to write an append and what belongs to it. */
interface CompoundClient {
  readonly store: EventStore;
  readonly appends: CompoundAppends;
  /** The body of a stored payload; null if it is not stored. */
  readonly storedBody: (payload: Payload) => Promise<string | null>;
}

export interface CompoundAppendsHarness {
  /** Opens a client of the log, as another process would have one. The harness closes it in the end. */
  open(): Promise<CompoundClient>;
  close(): Promise<void>;
}

/** What the tests of one way share; set before the first of them. */
export interface CompoundUnderTest extends CompoundClient {
  readonly harness: CompoundAppendsHarness;
}
