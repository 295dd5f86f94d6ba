import type pg from 'pg';
import type { MembershipId, OrgId, UserId } from '#libs/domain/kernel';
import {
  MailDesk,
  mayMail,
  readMailAddress,
  siteOf,
  type MailAddress,
  type MailOrder,
  type MailOrdersPage,
  type NewToken,
  type NoticeOrder,
  type OutgoingMail,
  type WaitingMail,
} from '#libs/domain/people';
import { answered, inTransaction, type Transaction } from '../postgres/index.js';
import { SealedValueRefused, type VaultCipher } from '../vault/index.js';
import { SealedAddresses } from './sealed-address.js';
import { SealedMails } from './sealed-mail.js';

const HOUR_MS = 60 * 60 * 1000;
/** Ended rows are kept for a day, for whoever asks why a mail did not come. */
const KEPT_MS = 24 * HOUR_MS;

/** Rows of `people.mail_orders`, `people.tokens` and `people.outbox`, as the worker moves them on. */
export class PostgresMailDesk extends MailDesk {
  private readonly addresses: SealedAddresses;
  private readonly mails: SealedMails;

  constructor(
    private readonly pool: pg.Pool,
    cipher: VaultCipher,
  ) {
    super();
    this.addresses = new SealedAddresses(cipher);
    this.mails = new SealedMails(cipher);
  }

  override async orders(limit: number, after: MailOrder | null): Promise<MailOrdersPage> {
    const { rows } = await answered(
      this.pool.query<StoredOrder>(
        `select * from people.mail_orders where kind <> 'passkey' and (requested_ms, id) > ($2::bigint, $3::text)
          order by requested_ms, id limit $1`,
        [limit, after?.requestedAtMs ?? -1, after?.id ?? ''],
      ),
    );
    const orders: MailOrder[] = [];
    for (const row of rows) {
      const order = opened(() => this.orderOf(row));
      // Its address is lost with the vault key it was sealed under, and it must not keep the others waiting.
      if (order === null) await this.remove(row.id);
      else orders.push(order);
    }
    return { orders, hasMore: rows.length === limit };
  }

  override async write(order: MailOrder, token: NewToken, mail: OutgoingMail | null): Promise<boolean> {
    return inTransaction(this.pool, async (query) => {
      // One after the other for one address: two requests at once must not leave two live tokens.
      await query(`select pg_advisory_xact_lock(hashtextextended(encode($1, 'hex'), 0))`, [order.addressHash]);
      const taken = await query(`delete from people.mail_orders where id = $1`, [order.id]);
      if (taken.rowCount !== 1) return false;
      if (token.user !== null && (await this.readsElsewhere(query, token.user, order))) return true;
      if (order.kind === 'login' && (await this.isOvertaken(query, order))) return true;
      if (order.kind === 'login' && !(await this.hasRoom(query, order, token.user))) return false;
      if (order.kind === 'login') await this.replaceOlder(query, order);
      await query(INSERT_TOKEN, tokenValues(order, token));
      if (mail !== null) await this.post(query, order, mail, token.expiresAtMs);
      return true;
    });
  }

  override async notices(limit: number): Promise<readonly NoticeOrder[]> {
    const { rows } = await answered(
      this.pool.query<StoredOrder>(
        `select orders.*, passkey_name from people.mail_orders orders
           left join people.passkey_mails on order_id = orders.id
          where kind = 'passkey' order by requested_ms, id limit $1`,
        [limit],
      ),
    );
    const notices: NoticeOrder[] = [];
    for (const row of rows) {
      const notice = opened(() => this.noticeOf(row));
      if (notice === null) await this.remove(row.id);
      else notices.push(notice);
    }
    return notices;
  }

  override async notify(order: NoticeOrder, mail: OutgoingMail, expiresAtMs: number): Promise<void> {
    await inTransaction(this.pool, async (query) => {
      const taken = await query(`delete from people.mail_orders where id = $1`, [order.id]);
      if (taken.rowCount !== 1 || (await this.readsElsewhere(query, order.user, order))) return;
      await this.post(query, order, mail, expiresAtMs);
    });
  }

  override drop({ id }: MailOrder | NoticeOrder): Promise<void> {
    return this.remove(id);
  }

  /** What is soonest good for nothing goes first: a sign-in before the approvals of a day. */
  override async takeDue(nowMs: number, leaseMs: number): Promise<WaitingMail | null> {
    const { rows } = await answered(
      this.pool.query<StoredMail>(
        `update people.outbox set due_ms = $2, tries = tries + 1
          where id = (select id from people.outbox where message is not null and due_ms <= $1
                       order by expires_ms, due_ms limit 1 for update skip locked)
         returning id, message, tries, expires_ms`,
        [nowMs, nowMs + leaseMs],
      ),
    );
    const [row] = rows;
    if (!row) return null;
    const mail = opened(() => this.mailOf({ ...row, tries: row.tries - 1 }));
    if (mail !== null) return mail;
    await this.giveUp(row.id, nowMs);
    return this.takeDue(nowMs, leaseMs);
  }

  override async sent(id: string, nowMs: number): Promise<void> {
    await answered(this.pool.query(`update people.outbox set message = null, sent_ms = $2 where id = $1`, [id, nowMs]));
  }

  override async retryAt(id: string, dueAtMs: number): Promise<void> {
    await answered(this.pool.query(`update people.outbox set due_ms = $2 where id = $1`, [id, dueAtMs]));
  }

  override async giveUp(id: string, nowMs: number): Promise<void> {
    await answered(
      this.pool.query(`update people.outbox set message = null, given_up_ms = $2 where id = $1`, [id, nowMs]),
    );
  }

  override async waiting(): Promise<readonly WaitingMail[]> {
    const { rows } = await answered(
      this.pool.query<StoredMail>(
        `select id, message, tries, expires_ms from people.outbox where message is not null order by due_ms, id limit 100`,
      ),
    );
    return rows.map((row) => this.mailOf(row));
  }

  override async purge(nowMs: number): Promise<number> {
    const { rows } = await answered(this.pool.query<{ removed: number }>(PURGE, [nowMs - KEPT_MS, nowMs]));
    return rows[0]?.removed ?? 0;
  }

  private async post(
    query: Transaction,
    order: MailOrder | NoticeOrder,
    mail: OutgoingMail,
    expiresAtMs: number,
  ): Promise<void> {
    await query(
      `insert into people.outbox (id, address_hash, message, due_ms, expires_ms) values ($1, $2, $3, $4, $5)
       on conflict do nothing`,
      [order.id, order.addressHash, this.mails.seal(order.id, mail), order.requestedAtMs, expiresAtMs],
    );
  }

  private async remove(id: string): Promise<void> {
    await answered(this.pool.query(`delete from people.mail_orders where id = $1`, [id]));
  }

  /** Whether the person has another address by now. It stays as it is until all is written, so that no token outlives it. */
  private async readsElsewhere(
    query: Transaction,
    user: UserId,
    { addressHash }: Pick<MailOrder, 'addressHash'>,
  ): Promise<boolean> {
    const { rows } = await query<{ address_hash: Buffer }>(
      `select address_hash from people.people where user_id = $1 for share`,
      [user],
    );
    return rows[0] !== undefined && !rows[0].address_hash.equals(addressHash);
  }

  /** Whether another worker has already written a mail that the same site asked for later: that one is the newest. */
  private async isOvertaken(query: Transaction, { addressHash, requestedAtMs, site }: LoginOrder): Promise<boolean> {
    const { rowCount } = await query(
      `select from people.tokens
        where address_hash = $1 and purpose = 'sign_in' and code_hash is not null and site = $3 and requested_ms > $2
        limit 1`,
      [addressHash, requestedAtMs, site],
    );
    return rowCount === 1;
  }

  private async hasRoom(query: Transaction, order: LoginOrder, user: UserId | null): Promise<boolean> {
    const { addressHash, requestedAtMs, site } = order;
    const { rows } = await query<{ of_site: number; of_all: number }>(
      `select count(*) filter (where site = $3)::int as of_site, count(*)::int as of_all from people.tokens
        where address_hash = $1 and purpose = 'sign_in' and code_hash is not null and requested_ms > $2`,
      [addressHash, requestedAtMs - HOUR_MS, site],
    );
    const [ofSite, ofAllSites] = [rows[0]?.of_site ?? 0, rows[0]?.of_all ?? 0];
    const sessions = await query<{ network: string }>(
      `select distinct network from people.sessions where user_id = $1 and least(expires_ms, idle_expires_ms) > $2`,
      [user, requestedAtMs],
    );
    const isFamiliar = sessions.rows.some(({ network }) => siteOf(network) === site);
    return mayMail({ ofSite, ofAllSites, isFamiliar });
  }

  private async replaceOlder(query: Transaction, order: LoginOrder): Promise<void> {
    const { addressHash, requestedAtMs, site, formerBrowserHash } = order;
    await query(
      `update people.tokens set replaced_ms = $2
        where address_hash = $1 and purpose = 'sign_in' and code_hash is not null
          and (site = $3 or browser_hash = $4) and used_ms is null and replaced_ms is null`,
      [addressHash, requestedAtMs, site, formerBrowserHash],
    );
  }

  private orderOf(row: StoredOrder): MailOrder {
    const common = this.commonOf(row);
    if (row.kind === 'login') {
      const { browser_hash: browserHash, former_browser_hash: formerBrowserHash, site, next } = row;
      return { kind: 'login', ...common, browserHash: browserHash as Buffer, formerBrowserHash, site, next };
    }
    const invitation = row.invitation as string;
    return { kind: 'invitation', ...common, ...memberOf(row), invitation, expiresAtMs: Number(row.expires_ms) };
  }

  private noticeOf(row: StoredOrder): NoticeOrder {
    const command = row.invitation as string;
    return { ...this.commonOf(row), ...memberOf(row), command, name: row.passkey_name ?? '' };
  }

  private commonOf({ id, address_hash: addressHash, address, requested_ms }: StoredOrder) {
    const opened = readMailAddress(this.addresses.open(address, 'order', id)) as MailAddress;
    return { id, addressHash, address: opened, requestedAtMs: Number(requested_ms) };
  }

  private mailOf({ id, message, tries, expires_ms }: StoredMail): WaitingMail {
    return { id, mail: this.mails.open(id, message), tries, expiresAtMs: Number(expires_ms) };
  }
}

const memberOf = ({ user_id, org, membership }: StoredOrder) => ({
  user: user_id as UserId,
  org: org as OrgId,
  membership: membership as MembershipId,
});

type LoginOrder = Extract<MailOrder, { kind: 'login' }>;

/** Null for what does not open: sealed under another vault key, or damaged. */
const opened = <Value>(open: () => Value): Value | null => {
  try {
    return open();
  } catch (error) {
    if (error instanceof SealedValueRefused) return null;
    throw error;
  }
};

const INSERT_TOKEN = `
  insert into people.tokens
    (token_hash, purpose, user_id, address_hash, org, invitation, next, code_hash, browser_hash, site, requested_ms,
     expires_ms)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`;

const tokenValues = (order: MailOrder, token: NewToken): unknown[] => {
  const isLogin = order.kind === 'login';
  return [
    token.tokenHash,
    isLogin ? 'sign_in' : 'invite',
    token.user,
    order.addressHash,
    isLogin ? null : order.org,
    isLogin ? null : order.invitation,
    isLogin ? order.next : null,
    token.codeHash,
    isLogin ? order.browserHash : null,
    isLogin ? order.site : '',
    order.requestedAtMs,
    token.expiresAtMs,
  ];
};

const PURGE = `
  with tokens as (delete from people.tokens where expires_ms < $1::bigint returning 1),
       mails as (delete from people.outbox
                  where expires_ms < $1 or sent_ms < $1 or given_up_ms < $1 returning 1),
       sessions as (delete from people.sessions where least(expires_ms, idle_expires_ms) < $1 returning 1),
       ends as (delete from people.ended_sessions where ended_ms < $1 returning 1),
       links as (delete from people.approval_links where expires_ms < $1 returning 1),
       approvals as (delete from people.mailed_approvals where expires_ms < $1 returning 1),
       misses as (delete from people.code_misses where minute < ($2::bigint / 60000) - 60 returning 1)
  select ((select count(*) from tokens) + (select count(*) from mails)
          + (select count(*) from sessions) + (select count(*) from ends) + (select count(*) from links) + (select count(*) from approvals)
          + (select count(*) from misses))::int as removed`;

interface StoredOrder {
  readonly id: string;
  readonly kind: 'login' | 'invitation' | 'passkey';
  readonly address_hash: Buffer;
  readonly address: Buffer;
  readonly browser_hash: Buffer | null;
  readonly former_browser_hash: Buffer | null;
  readonly site: string;
  readonly next: string | null;
  readonly user_id: string | null;
  readonly org: string | null;
  readonly membership: string | null;
  readonly invitation: string | null;
  /** Only read with orders of mails about passkeys. */
  readonly passkey_name?: string | null;
  readonly requested_ms: string;
  readonly expires_ms: string | null;
}

interface StoredMail {
  readonly id: string;
  readonly message: Buffer;
  readonly tries: number;
  readonly expires_ms: string;
}
