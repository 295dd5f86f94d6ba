import type pg from 'pg';
import { answered, inTransaction } from '#libs/infra/postgres';
import { ApprovalPlaces, type HeldPlace, type WantedPlace } from '#libs/domain/gate';
import type { ActionId, AgentId } from '#libs/domain/kernel';

/** Rows of `gate.approval_places`. */
export class PostgresApprovalPlaces extends ApprovalPlaces {
  /** @param pool commits durably, because a place must survive a database crash before the append */
  constructor(private readonly pool: pg.Pool) {
    super();
  }

  override take({ agent, action, reservedMs, limit }: WantedPlace): Promise<boolean> {
    return inTransaction(this.pool, async (query) => {
      // One call of an agent at a time counts and takes places. The insert is a statement of its own, so that it sees
      // the places taken by earlier holders of the lock.
      await query(`select pg_advisory_xact_lock(hashtextextended($1, 2))`, [agent]);
      const { rowCount } = await query(
        `insert into gate.approval_places as held (agent, action, reserved_ms)
           select $1, $2, $3
            where exists (select from gate.approval_places own where own.agent = $1 and own.action = $2)
               or $4 > (select count(*) from gate.approval_places other where other.agent = $1)
         on conflict (agent, action) do update set reserved_ms = held.reserved_ms`,
        [agent, action, reservedMs, limit],
      );
      return rowCount === 1;
    });
  }

  override async heldBy(agent: AgentId): Promise<readonly HeldPlace[]> {
    const { rows } = await answered(
      this.pool.query<{ action: ActionId; reserved_ms: string }>(
        `select action, reserved_ms from gate.approval_places where agent = $1 order by reserved_ms, action`,
        [agent],
      ),
    );
    return rows.map(({ action, reserved_ms }) => ({ action, reservedMs: Number(reserved_ms) }));
  }

  override async free(agent: AgentId, actions: readonly ActionId[]): Promise<void> {
    await answered(
      this.pool.query(`delete from gate.approval_places where agent = $1 and action = any($2)`, [agent, actions]),
    );
  }
}
