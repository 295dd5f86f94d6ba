import { RunningExecutions } from '#libs/domain/connectors';
import { DomainError, type ConnectorId, type EventStore, type OrgId } from '#libs/domain/kernel';
import type { PostgresOpenExecutions } from './postgres-open-executions.js';

/** How long an answer waits for the fold to catch up with the log. */
const CATCH_UP_MS = 2_000;

/**
 * Answers from the table of open executions, after it has caught up with the end of the log at the time of the
 * question.
 */
export class LoggedRunningExecutions extends RunningExecutions {
  constructor(
    private readonly open: PostgresOpenExecutions,
    private readonly store: EventStore,
  ) {
    super();
  }

  /** @throws {DomainError} service_unavailable if the table does not catch up in time */
  override async isAnyRunning(org: OrgId, connector: ConnectorId): Promise<boolean> {
    if (!(await this.open.reach(await this.store.head(), CATCH_UP_MS))) {
      throw new DomainError('service_unavailable', { retryAfterSeconds: 1 });
    }
    return this.open.isAnyOpen(org, connector);
  }
}
