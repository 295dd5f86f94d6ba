import type pg from 'pg';
import {
  APPROVAL_MAILS_AN_AGENT,
  APPROVAL_MAILS_AN_HOUR,
  ApprovalLinks,
  approvalMailId,
  type ApprovalLink,
  type ApprovalMail,
  type ApprovalMails,
} from '#libs/domain/gate';
import type { ActionId, UserId } from '#libs/domain/kernel';
import { requireMailAddress, type SignInHasher } from '#libs/domain/people';
import { answered, inTransaction, type Transaction } from '../postgres/index.js';
import type { SealedMails } from '../people/index.js';

const HOUR_MS = 60 * 60 * 1000;

/** Rows of `people.mailed_approvals` and `people.approval_links`, and of `people.outbox`. */
export class PostgresApprovalLinks extends ApprovalLinks {
  constructor(
    private readonly pool: pg.Pool,
    private readonly hasher: SignInHasher,
    private readonly mails: SealedMails,
  ) {
    super();
  }

  override async unwritten(limit: number, after: ActionId | null): Promise<readonly ActionId[]> {
    // An approval bears the id of its action under another prefix.
    const { rows } = await answered(
      this.pool.query<{ action: ActionId }>(
        `select due.action from gate.due_actions due
          where due.kind = 'approval' and due.action > $2
            and not exists (select from people.mailed_approvals mailed
                             where mailed.approval = overlay(due.action placing 'apr' from 1 for 3))
          order by due.action limit $1`,
        [limit, after ?? ''],
      ),
    );
    return rows.map(({ action }) => action);
  }

  override async write(approval: ApprovalMails, nowMs: number): Promise<void> {
    await inTransaction(this.pool, async (query) => {
      const { rowCount } = await query(
        `insert into people.mailed_approvals (approval, expires_ms) values ($1, $2) on conflict do nothing`,
        [approval.approval, approval.expiresAtMs],
      );
      if (rowCount !== 1) return;
      // In one order, so that two approvals with the same people wait for each other and never for ever.
      for (const mail of approval.mails.toSorted((one, other) => (one.user < other.user ? -1 : 1))) {
        if (await isWelcome(query, mail.user, approval, nowMs)) await this.writeOne(query, approval, mail, nowMs);
      }
    });
  }

  override async find(tokenHash: Uint8Array, nowMs: number): Promise<ApprovalLink | null> {
    const { rows } = await answered(
      this.pool.query<ApprovalLink>(
        `select org, approval, user_id as "user" from people.approval_links
          where token_hash = $1 and used_ms is null and expires_ms > $2`,
        [tokenHash, nowMs],
      ),
    );
    return rows[0] ?? null;
  }

  override async use(tokenHash: Uint8Array, nowMs: number): Promise<boolean> {
    // The second of two waits for the first one's row, and then finds it used.
    const { rowCount } = await answered(
      this.pool.query(
        `update people.approval_links set used_ms = $2
          where token_hash = $1 and used_ms is null and expires_ms > $2`,
        [tokenHash, nowMs],
      ),
    );
    return rowCount === 1;
  }

  override async giveBack(tokenHash: Uint8Array): Promise<void> {
    await answered(
      this.pool.query(`update people.approval_links set used_ms = null where token_hash = $1`, [tokenHash]),
    );
  }

  private async writeOne(
    query: Transaction,
    { org, agent, approval, expiresAtMs }: ApprovalMails,
    { user, tokenHash, mail }: ApprovalMail,
    nowMs: number,
  ): Promise<void> {
    // The same also when it is written again from a restored backup.
    const id = approvalMailId(approval, user);
    const addressHash = this.hasher.addressHash(requireMailAddress(mail.to));
    // The address stays as it is until all is written, so that no link outlives it.
    const { rows } = await query(`select 1 from people.people where user_id = $1 and address_hash = $2 for share`, [
      user,
      addressHash,
    ]);
    if (rows.length === 0) return;
    await query(
      `insert into people.outbox (id, address_hash, message, due_ms, expires_ms) values ($1, $2, $3, $4, $5)
       on conflict (id) do update set message = excluded.message, due_ms = excluded.due_ms`,
      [id, addressHash, this.mails.seal(id, mail), nowMs, expiresAtMs],
    );
    await query(
      `insert into people.approval_links (token_hash, mail, org, approval, user_id, agent, requested_ms, expires_ms)
       values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [tokenHash, id, org, approval, user, agent, nowMs, expiresAtMs],
    );
  }
}

/**
 * Whether this organization has sent the person fewer mails than it may in an hour: another one's are no reason to keep
 * silent about its own, and one agent's calls are none about another's. Asked by one at a time for one person.
 */
const isWelcome = async (
  query: Transaction,
  user: UserId,
  { org, agent }: Pick<ApprovalMails, 'org' | 'agent'>,
  nowMs: number,
): Promise<boolean> => {
  await query(`select pg_advisory_xact_lock(hashtextextended($1, 1))`, [user]);
  const { rows } = await query<{ of_all: number; of_agent: number }>(
    `select count(*)::int as of_all, count(*) filter (where agent = $4)::int as of_agent
       from people.approval_links where user_id = $1 and org = $2 and requested_ms > $3`,
    [user, org, nowMs - HOUR_MS, agent],
  );
  const [ofAll, ofAgent] = [rows[0]?.of_all ?? 0, rows[0]?.of_agent ?? 0];
  return ofAll < APPROVAL_MAILS_AN_HOUR && ofAgent < APPROVAL_MAILS_AN_AGENT;
};
