import { expect } from 'vitest';
import { type AppendResult, type EventStore, RevisionConflict, type SeenHeads } from '#libs/domain/kernel';

/**
 * One log and the ways to reach it. Positions may have gaps and appends may be remote, so the suite must not assume
 * otherwise.
 */
export interface EventStoreHarness {
  /** Opens a client of the log, as another process would have one. The harness closes it in the end. */
  open(): Promise<EventStore & SeenHeads>;
  /** Ends the server without warning and starts it again; resolves when it answers. */
  readonly restart?: () => Promise<void>;
  /** Makes every later commit take up to some milliseconds after its place in the log was taken. */
  readonly delayCommits?: () => Promise<void>;
  /** Opens a transaction in another database of the server; returns a function that ends it. */
  readonly openTransactionElsewhere?: () => Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** What the tests of one adapter share; set before the first of them. */
export interface LogUnderTest {
  readonly harness: EventStoreHarness;
  readonly store: EventStore & SeenHeads;
}

export const expectConflict = async (
  append: Promise<AppendResult>,
  conflict: Pick<RevisionConflict, 'stream' | 'expected' | 'actual'>,
): Promise<void> => {
  await expect(append).rejects.toBeInstanceOf(RevisionConflict);
  await expect(append).rejects.toMatchObject(conflict);
};
