import { RunningExecutions } from '#libs/domain/connectors';
import { DomainError, type ConnectorId, type EventStore, type OrgId } from '#libs/domain/kernel';
import type { PostgresOpenExecutions } from './postgres-open-executions.js';

/** How long the answer may wait for the fold to reach the log. */
const CATCH_UP_MS = 2_000;

/** Answers from the fold of open executions, once it has everything that was in the log when it was asked. */
export class LoggedRunningExecutions extends RunningExecutions {
  constructor(
    private readonly open: PostgresOpenExecutions,
    private readonly store: EventStore,
  ) {
    super();
  }

  /** @throws {DomainError} service_unavailable: nobody can say yet */
  override async isAnyRunning(org: OrgId, connector: ConnectorId): Promise<boolean> {
    if (!(await this.open.reach(await this.store.head(), CATCH_UP_MS))) {
      throw new DomainError('service_unavailable', { retryAfterSeconds: 1 });
    }
    return this.open.isAnyOpen(org, connector);
  }
}
