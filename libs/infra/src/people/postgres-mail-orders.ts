import type pg from 'pg';
import {
  INVITATIONS_PER_ADDRESS,
  INVITATIONS_PER_ORG,
  MailOrders,
  type InvitationOrder,
  type LoginRequest,
  type PasskeyMailOrder,
  type SignInHasher,
} from '#libs/domain/people';
import { answered, inTransaction, type Transaction } from '../postgres/index.js';
import type { SealedAddresses } from './sealed-address.js';

const HOUR_MS = 60 * 60 * 1000;

/** Rows of `people.mail_orders`, as the api writes them. */
export class PostgresMailOrders extends MailOrders {
  constructor(
    private readonly pool: pg.Pool,
    private readonly hasher: SignInHasher,
    private readonly addresses: SealedAddresses,
  ) {
    super();
  }

  override async requestLogin(request: LoginRequest): Promise<void> {
    const { id, address, browserHash, formerBrowserHash, site, next, requestedAtMs } = request;
    await answered(
      this.pool.query({
        name: 'login-request',
        text: `insert into people.mail_orders
                 (id, kind, address_hash, address, browser_hash, former_browser_hash, site, next, requested_ms)
               values ($1, 'login', $2, $3, $4, $5, $6, $7, $8)`,
        values: [
          id,
          this.hasher.addressHash(address),
          this.addresses.seal(address, 'order', id),
          browserHash,
          formerBrowserHash,
          site,
          next,
          requestedAtMs,
        ],
      }),
    );
  }

  override async orderInvitation(mail: InvitationOrder): Promise<number | null> {
    const { id, address, user, org, membership, invitation, requestedAtMs, expiresAtMs } = mail;
    const addressHash = this.hasher.addressHash(address);
    return inTransaction(this.pool, async (query) => {
      // Counted and written by one at a time, of an organization and of an address, always in this order.
      await query(`select pg_advisory_xact_lock(hashtextextended($1, 1))`, [org]);
      await query(`select pg_advisory_xact_lock(hashtextextended(encode($1, 'hex'), 1))`, [addressHash]);
      if (await isOrdered(query, id)) return null;
      const freeAtMs = Math.max(
        await roomAt(query, 'address_hash', addressHash, INVITATIONS_PER_ADDRESS),
        await roomAt(query, 'org', org, INVITATIONS_PER_ORG),
      );
      if (freeAtMs > requestedAtMs) return freeAtMs;
      await query(
        `insert into people.mail_orders
           (id, kind, address_hash, address, user_id, org, membership, invitation, requested_ms, expires_ms)
         values ($1, 'invitation', $2, $3, $4, $5, $6, $7, $8, $9)`,
        [
          id,
          addressHash,
          this.addresses.seal(address, 'order', id),
          user,
          org,
          membership,
          invitation,
          requestedAtMs,
          expiresAtMs,
        ],
      );
      return null;
    });
  }

  override async orderPasskeyMail(mail: PasskeyMailOrder): Promise<void> {
    const { id, address, user, org, membership, command, name, requestedAtMs } = mail;
    await answered(
      this.pool.query(
        `with ordered as (
           insert into people.mail_orders
             (id, kind, address_hash, address, user_id, org, membership, invitation, requested_ms)
           values ($1, 'passkey', $2, $3, $4, $5, $6, $7, $9) on conflict do nothing
           returning id
         )
         insert into people.passkey_mails (order_id, passkey_name) select id, $8::text from ordered`,
        [
          id,
          this.hasher.addressHash(address),
          this.addresses.seal(address, 'order', id),
          user,
          org,
          membership,
          command,
          name,
          requestedAtMs,
        ],
      ),
    );
  }
}

/** Whether it waits, or was written already. */
const isOrdered = async (query: Transaction, invitation: string): Promise<boolean> => {
  const { rowCount } = await query(
    `select from people.mail_orders where id = $1
     union all select from people.tokens where purpose = 'invite' and invitation = $1 limit 1`,
    [invitation],
  );
  return rowCount === 1;
};

/**
 * From when on one more is within the limit: an hour after the last but so many, of those that wait and those that were written.
 * An order whose event never came ends, and counts no more.
 */
const roomAt = async (
  query: Transaction,
  column: 'address_hash' | 'org',
  value: unknown,
  max: number,
): Promise<number> => {
  const { rows } = await query<{ requested_ms: string }>(
    `select requested_ms from (
       select requested_ms from people.mail_orders where kind = 'invitation' and ${column} = $1
       union all select requested_ms from people.tokens where purpose = 'invite' and ${column} = $1
     ) as invitations order by requested_ms desc offset $2 limit 1`,
    [value, max - 1],
  );
  return rows[0] === undefined ? 0 : Number(rows[0].requested_ms) + HOUR_MS;
};
