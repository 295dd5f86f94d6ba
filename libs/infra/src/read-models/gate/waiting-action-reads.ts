import type { DataSource } from 'typeorm';
import { type ConnectorId, type OrgId, StoreUnavailable } from '#libs/domain/kernel';
import type { WaitingAction, WaitingActions } from '#libs/domain/witness';
import type { ProjectionWaiter } from '../projection-waiter.js';
import { translateRowError } from '../row-errors.js';
import { ActionRow } from './action.row.js';

/** Actions that wait for a change log, of all organizations, for decoders. */
export class WaitingActionReads implements WaitingActions {
  constructor(
    private readonly source: DataSource,
    private readonly waiter: Pick<ProjectionWaiter, 'catchUp'>,
  ) {}

  /** @throws {StoreUnavailable} the database did not answer */
  async of(org: OrgId, connector: ConnectorId): Promise<readonly WaitingAction[]> {
    const rows = await this.rows(org);
    return rows.flatMap(({ id: action, folded: { submission, changeLog, outcome } }) => {
      if (submission.connector !== connector || changeLog.awaited === null) return [];
      const commitLsn = changeLog.finished?.transaction?.commit_lsn ?? null;
      return [{ action, commitLsn, startedAt: outcome?.started_at ?? null }];
    });
  }

  /** @throws {StoreUnavailable} the database did not answer, or the rows are too far behind the log */
  async allOf(org: OrgId, connector: ConnectorId): Promise<readonly WaitingAction[]> {
    const { lagEvents } = await this.waiter.catchUp(['actions']);
    if (lagEvents > 0) throw new StoreUnavailable(`the rows of actions are ${lagEvents} events behind the log`);
    return this.of(org, connector);
  }

  /** The index of unsealed actions is asked: those that wait are few among them. */
  private async rows(org: OrgId): Promise<readonly ActionRow[]> {
    try {
      return await this.source.manager
        .createQueryBuilder(ActionRow, 'row')
        .select(['row.id', 'row.folded'])
        .where(`row.org = :org AND row.state <> 'sealed' AND row.state = 'witnessing'`, { org })
        .getMany();
    } catch (error) {
      throw translateRowError(error);
    }
  }
}
