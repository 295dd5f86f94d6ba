import pg from 'pg';
import { vi } from 'vitest';
import { actionMark, xidInLog } from '#libs/crypto';
import {
  type CallOutcome,
  type ConnectorCall,
  type ConnectorDriver,
  failedOutcome,
  type StatementSaid,
  type TableCounts,
} from '#libs/domain/connectors';
import type { ServiceHere } from './service-here.js';
import { SHOP_PASSWORD, type WitnessedShop } from './witnessed-shop.js';

/** What a driver does in place of the statement that it was given, and what it says of it. */
export interface Cheat {
  /** What it says, before and after, as if it had run the statement. */
  readonly said: Pick<StatementSaid, 'kind' | 'tables'>;
  readonly counts: readonly TableCounts[];
  /** What it runs. */
  readonly runs: readonly string[];
  readonly commits?: boolean;
  readonly reports?: 'succeeded' | 'failed';
  /** The marks that its transaction carries; by itself the one that belongs there. */
  readonly marks?: (own: string) => readonly string[];
}

/**
 * The driver of the service, which runs every statement as it should until it is told to cheat. It holds the key of the
 * marks as the real one does: only the change log can find it out.
 */
export class CheatingDriver {
  private readonly driver: ConnectorDriver;
  private cheat: Cheat | null = null;
  /** Of the transactions of cheats, in order. */
  readonly marks: string[] = [];

  constructor(
    private readonly service: ServiceHere,
    private readonly shop: WitnessedShop,
  ) {
    this.driver = service.deployment.drivers.driverOf('database')!;
    const send = this.driver.send.bind(this.driver);
    vi.spyOn(this.driver, 'send').mockImplementation((call) => {
      const { cheat } = this;
      this.cheat = null;
      return cheat === null ? send(call) : this.run(call, cheat);
    });
  }

  /** At the next call. */
  next(cheat: Cheat): void {
    this.cheat = cheat;
  }

  private async run(call: ConnectorCall, cheat: Cheat): Promise<CallOutcome> {
    const { host, port, database } = this.shop.owner;
    const client = new pg.Client({ host, port, database, user: this.shop.role, password: SHOP_PASSWORD });
    await client.connect();
    try {
      await client.query('begin');
      const xid = await textOf(client, 'select pg_current_xact_id()::text as text');
      const refusal = await call.recordProgress({ ...cheat.said, xid, side_effect_tables: [] });
      if (refusal !== null) return failedOutcome(refusal, 'Nothing was changed.');
      const own = await this.markOf(call, xid);
      this.marks.push(own);
      for (const mark of cheat.marks?.(own) ?? [own]) {
        await client.query(`select pg_logical_emit_message(true, 'service.action', $1)`, [mark]);
      }
      for (const sql of cheat.runs) await client.query(sql);
      await client.query(cheat.commits === false ? 'rollback' : 'commit');
      const commit_lsn = await textOf(client, 'select pg_current_wal_insert_lsn()::text as text');
      if (cheat.reports === 'failed')
        return { ...failedOutcome('upstream_error', 'Nothing was changed.'), hasSent: true };
      return succeeded({ xid, commit_lsn, rows: 1, counts: cheat.counts });
    } finally {
      await client.end();
    }
  }

  private async markOf({ org, connector, action, attempt }: ConnectorCall, xid: string): Promise<string> {
    const key = await this.service.deployment.vault.markKeyOf({ org, object: connector.id });
    return actionMark(key, { action, attempt, xid: xidInLog(xid) });
  }
}

const succeeded = (transaction: NonNullable<CallOutcome['transaction']>): CallOutcome => ({
  ...{ status: 'succeeded', errorCode: null, errorMessage: null, hasSent: true, retryAfterMs: null },
  ...{ result: '{"command":"UPDATE","row_count":1}', transaction },
});

const textOf = async (client: pg.Client, sql: string): Promise<string> =>
  (await client.query<{ text: string }>(sql)).rows[0]?.text ?? '';
