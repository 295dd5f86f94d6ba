import type pg from 'pg';
import { answered, bigintArray, textArray } from '#libs/infra/postgres';
import { GatheredCalls } from '#libs/infra/runtime';
import type { Digest } from '#libs/crypto';
import { IntentNonces, type NonceHolder, type NonceReservation } from '#libs/domain/gate';
import { StoreUnavailable, type ActionId } from '#libs/domain/kernel';

interface HolderRow {
  readonly place: string;
  readonly action: ActionId;
  readonly digest: Digest;
  readonly reserved_ms: string;
}

interface KeyRow {
  readonly agent: string;
}

/** Inserts in the order of the key, so that two statements cannot deadlock. */
const RESERVE = `
  insert into gate.intent_nonces (agent, nonce, action, digest, reserved_ms, expires_ms)
    select n.agent, n.nonce, n.action, n.digest, n.reserved_ms, n.expires_ms
      from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[]) with ordinality
           as n (agent, nonce, action, digest, reserved_ms, expires_ms, ordinal)
     order by n.agent, n.nonce, n.ordinal
    on conflict do nothing
    returning agent`;

const HOLDERS = `
  select asked.place, held.action, held.digest, held.reserved_ms
    from unnest($1::text[], $2::text[]) with ordinality as asked (agent, nonce, place)
   cross join lateral (select n.action, n.digest, n.reserved_ms from gate.intent_nonces n
                        where n.agent = asked.agent and n.nonce = asked.nonce limit 1) held`;

/** Limit of one statement: enough nonces for all callers that usually wait. */
const TOGETHER = { maxItems: 128 };

/** Concurrent calls share one statement and its commit. */
export class PostgresIntentNonces extends IntentNonces {
  private readonly reservations: GatheredCalls<NonceReservation, NonceHolder>;

  /** @param pool commits durably, because a reservation must survive a database crash before the append */
  constructor(private readonly pool: pg.Pool) {
    super();
    this.reservations = new GatheredCalls((wanted) => this.reserveAll(wanted), TOGETHER);
  }

  override reserve(wanted: NonceReservation): Promise<NonceHolder> {
    return this.reservations.of(wanted);
  }

  override async takeOver(wanted: NonceReservation, from: ActionId): Promise<boolean> {
    const { agent, nonce, action, digest, reservedMs, expiresMs } = wanted;
    const { rowCount } = await answered(
      this.pool.query(
        `update gate.intent_nonces set action = $3, digest = $4, reserved_ms = $5, expires_ms = $6
          where agent = $1 and nonce = $2 and action = $7`,
        [agent, nonce, action, digest, reservedMs, expiresMs, from],
      ),
    );
    return rowCount === 1;
  }

  override async removeExpired(nowMs: number): Promise<number> {
    const { rowCount } = await answered(
      this.pool.query(`delete from gate.intent_nonces where expires_ms < $1`, [nowMs]),
    );
    return rowCount ?? 0;
  }

  private async reserveAll(wanted: readonly NonceReservation[]): Promise<readonly NonceHolder[]> {
    const { rows } = await answered(
      this.pool.query<KeyRow>({
        name: 'reserve-nonces',
        text: RESERVE,
        values: [
          ...keysOf(wanted),
          textArray(wanted.map(({ action }) => action)),
          textArray(wanted.map(({ digest }) => digest)),
          bigintArray(wanted.map(({ reservedMs }) => reservedMs)),
          bigintArray(wanted.map(({ expiresMs }) => expiresMs)),
        ],
      }),
    );
    // The usual case: every nonce was free.
    if (rows.length === wanted.length) return wanted;
    return this.holdersOf(wanted);
  }

  /**
   * A statement of its own, because the insert does not see rows of concurrent transactions that its conflicts are
   * about.
   */
  private async holdersOf(wanted: readonly NonceReservation[]): Promise<readonly NonceHolder[]> {
    const { rows } = await answered(
      this.pool.query<HolderRow>({ name: 'holders-of-nonces', text: HOLDERS, values: keysOf(wanted) }),
    );
    const holders = new Map(rows.map((row) => [Number(row.place), row]));
    return wanted.map((_, index) => holderIn(holders.get(index + 1)));
  }
}

const keysOf = (wanted: readonly NonceReservation[]): Buffer[] => [
  textArray(wanted.map(({ agent }) => agent)),
  textArray(wanted.map(({ nonce }) => nonce)),
];

const holderIn = (row: HolderRow | undefined): NonceHolder => {
  // The row expired and was removed between the two statements. A retry of the request finds the nonce free.
  if (row === undefined) throw new StoreUnavailable('a nonce was removed while it was being reserved');
  return { action: row.action, digest: row.digest, reservedMs: Number(row.reserved_ms) };
};
