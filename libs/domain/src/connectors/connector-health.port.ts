import type { ConnectorId, OrgId } from '../kernel/index.js';
import type { ConnectorTest, TestedPlace } from './connector-test.js';

/** Tests of one connector in any minute, however many processes run them (rule CON-6). */
export const TESTS_A_MINUTE = 10;

/**
 * The last test of each connector: one row a connector, beside the log, since a test changes nothing that a deed speaks of.
 * A row may outlive its connector by a crash; the sweeper finds it.
 */
export abstract class ConnectorHealth {
  /**
   * Counts a test that begins, in one statement, so that of tests at the same moment no more than
   * {@link TESTS_A_MINUTE} begin. Null: it may. Else the milliseconds until one more may, and nothing was counted.
   */
  abstract begin(place: TestedPlace, nowMs: number): Promise<number | null>;

  /** Keeps a result, unless a test that began later has left one, or the row is gone. */
  abstract record(test: ConnectorTest): Promise<void>;

  /** The last results, by connector; those never tested are left out. */
  abstract lastOf(connectors: readonly ConnectorId[]): Promise<ReadonlyMap<ConnectorId, ConnectorTest>>;

  /** Of an organization: results that are failing, the last test first; those of connectors changed since among them. */
  abstract failingIn(org: OrgId): Promise<readonly ConnectorTest[]>;

  /** Removes the row; nothing happens when there is none. */
  abstract forget(connector: ConnectorId): Promise<void>;

  /** Rows whose last test began before that, in no particular order, for the sweeper. */
  abstract testedBefore(epochMs: number): AsyncIterable<TestedPlace>;
}
