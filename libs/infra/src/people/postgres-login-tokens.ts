import type pg from 'pg';
import type { OrgId, UserId } from '#libs/domain/kernel';
import {
  CODE_ATTEMPTS_MAX,
  LoginTokens,
  type CodeAttempt,
  type CodeTrial,
  type IssuedToken,
  type LoginToken,
  type NewSessionRow,
} from '#libs/domain/people';
import { answered } from '../postgres/index.js';
import { INSERT_SESSION, sessionValues } from './postgres-session-rows.js';

const COLUMNS = `purpose, user_id, org, invitation, next, expires_ms`;
const LIVE = `used_ms is null and replaced_ms is null`;

/** Rows of `people.tokens`. */
export class PostgresLoginTokens extends LoginTokens {
  constructor(private readonly pool: pg.Pool) {
    super();
  }

  override async find(tokenHash: Uint8Array, nowMs: number): Promise<LoginToken | null> {
    const { rows } = await answered(
      this.pool.query<StoredToken>(
        `select ${COLUMNS} from people.tokens where token_hash = $1 and ${LIVE} and expires_ms > $2`,
        [tokenHash, nowMs],
      ),
    );
    return rows[0] ? tokenOf(rows[0]) : null;
  }

  override async use(tokenHash: Uint8Array, nowMs: number, session: NewSessionRow): Promise<boolean> {
    const values = sessionValues(session);
    const places = values.map((_, index) => `$${index + 3}`);
    // One statement: the second of two waits for the first one's row, and then finds it used.
    const { rowCount } = await answered(
      this.pool.query(
        `with used as (
           update people.tokens set used_ms = $2
            where token_hash = $1 and ${LIVE} and expires_ms > $2 and user_id is not null returning token_hash
         )
         ${INSERT_SESSION} select ${typed(places).join(', ')} from used`,
        [tokenHash, nowMs, ...values],
      ),
    );
    return rowCount === 1;
  }

  override async issue({ tokenHash, user, addressHash, issuedAtMs, expiresAtMs }: IssuedToken): Promise<void> {
    await answered(
      this.pool.query(
        `insert into people.tokens (token_hash, purpose, user_id, address_hash, requested_ms, expires_ms)
         values ($1, 'sign_in', $2, $3, $4, $5)`,
        [tokenHash, user, addressHash, issuedAtMs, expiresAtMs],
      ),
    );
  }

  override async voidAll(user: UserId, nowMs: number): Promise<void> {
    const statement = `
      with voided as (update people.tokens set replaced_ms = $2 where user_id = $1 and ${LIVE} returning address_hash),
           orders as (delete from people.mail_orders where user_id = $1),
           links as (delete from people.approval_links where user_id = $1 returning mail)
      delete from people.outbox
       where message is not null
         and (address_hash in (select address_hash from voided) or id in (select mail from links))`;
    await answered(this.pool.query(statement, [user, nowMs]));
  }

  override async tryCode<Opened extends { readonly row: NewSessionRow }>(
    { addressHash, codeHash, browserHash, nowMs }: CodeAttempt,
    opening: (token: LoginToken) => Promise<Opened | null>,
  ): Promise<CodeTrial<Opened>> {
    const { rows } = await answered(
      this.pool.query<StoredToken & { token_hash: Buffer; is_right: boolean }>(TRY_CODE, [
        addressHash,
        codeHash,
        browserHash,
        nowMs,
        CODE_ATTEMPTS_MAX,
      ]),
    );
    const [tried] = rows;
    if (tried === undefined) return 'nothing_to_guess';
    if (!tried.is_right) return 'wrong';
    const token = tokenOf(tried);
    // No connection and no lock is held meanwhile: it asks for more of the same pool.
    const opened = await opening(token);
    if (opened === null) return 'nothing_to_guess';
    return (await this.use(tried.token_hash, nowMs, opened.row)) ? { opened, token } : 'nothing_to_guess';
  }
}

// The row's lock is what counts: of 200 at once each finds what the one before it left.
const TRY_CODE = `
  update people.tokens
     set attempts = attempts + 1,
         misses = misses + case when code_hash = $2 then 0 else 1 end,
         missed_ms = case when code_hash = $2 then missed_ms else $4 end
   where address_hash = $1 and purpose = 'sign_in' and code_hash is not null and browser_hash = $3
     and ${LIVE} and expires_ms > $4 and attempts < $5
  returning token_hash, ${COLUMNS}, (code_hash = $2 and user_id is not null) as is_right`;

/** A select gives its values no types of its own; these are the columns' ({@link INSERT_SESSION}). */
const TYPES = [
  ...['bytea', 'text', 'bytea', 'text', 'text', 'text', 'text'],
  ...['bigint', 'bigint', 'bigint', 'bigint', 'text', 'text'],
];
const typed = (places: readonly string[]): readonly string[] =>
  places.map((place, index) => `${place}::${TYPES[index] as string}`);

interface StoredToken {
  readonly purpose: LoginToken['purpose'];
  readonly user_id: UserId | null;
  readonly org: OrgId | null;
  readonly invitation: string | null;
  readonly next: string | null;
  readonly expires_ms: string;
}

const tokenOf = ({ purpose, user_id, org, invitation, next, expires_ms }: StoredToken): LoginToken => ({
  purpose,
  user: user_id,
  org,
  invitation,
  next,
  expiresAtMs: Number(expires_ms),
});
