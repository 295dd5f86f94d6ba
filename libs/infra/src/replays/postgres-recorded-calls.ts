import type pg from 'pg';
import type { OrgId } from '#libs/domain/kernel';
import { RecordedCalls, type RecordedCall, type ReplayCursor, type ReplayWindow } from '#libs/domain/replays';
import { answered } from '../postgres/index.js';

/** With arguments of 256 KiB each, two pages are 128 MiB. */
const PAGE_ACTIONS = 250;

/** The rows of GET /v1/actions, and the payloads beside the log. */
export class PostgresRecordedCalls extends RecordedCalls {
  /** @param pool of the database with the rows of lists and the payloads */
  constructor(private readonly pool: pg.Pool) {
    super();
  }

  override async count(org: OrgId, { from, to }: ReplayWindow, limit: number): Promise<number> {
    const { rows } = await answered(
      this.pool.query<{ count: number }>(
        `select count(*)::int as count from (
           select from read_models.actions where org = $1 and created_at >= $2 and created_at < $3 limit $4) counted`,
        [org, from, to, limit],
      ),
    );
    return rows[0]?.count ?? 0;
  }

  override async page(
    org: OrgId,
    { from, to }: ReplayWindow,
    after: ReplayCursor | null,
  ): Promise<readonly RecordedCall[]> {
    const { rows } = await answered(
      this.pool.query<Omit<RecordedCall, 'createdAt'> & { readonly createdAt: Date }>({
        name: 'recorded-calls',
        // An approval bears the id of its action under another prefix. Looks at the index for each, in
        // its own collation: otherwise every page would read all payloads.
        text: `select page.id as action, page.created_at as "createdAt", page.agent, page.tool, page.decision,
            page.error_code as "errorCode", approval.status as approval, page.digest as "inputDigest", input.body as input
          from (select id, created_at, agent, tool, decision, error_code,
                       folded::json #>> '{submission,input_digest}' as digest
                  from read_models.actions
                 where org = $1 and (created_at, id) > ($2, $3) and created_at < $4
                 order by created_at, id limit ${PAGE_ACTIONS}) page
          left join lateral (select status from read_models.approvals asked
            where asked.id = overlay(page.id placing 'apr' from 1 for 3) and page.decision = 'require_approval' limit 1) approval on true
          left join lateral (select body from gate.payloads stored
            where (stored.owner, stored.kind, stored.digest) = (page.id collate "default", 'policy_input', page.digest)
            limit 1) input on true
          order by page.created_at, page.id`,
        values: [org, after?.createdAt ?? from, after?.action ?? '', to],
      }),
    );
    return rows.map((row) => ({ ...row, createdAt: row.createdAt.toISOString() }));
  }
}
