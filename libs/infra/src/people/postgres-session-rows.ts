import type pg from 'pg';
import type { MembershipId, OrgId, SessionId, UserId } from '#libs/domain/kernel';
import {
  SessionRows,
  type NewSessionRow,
  type SessionEnd,
  type SessionRow,
  type SignedInBy,
} from '#libs/domain/people';
import { answered } from '../postgres/index.js';

const COLUMNS = `session, csrf_hash, user_id, org, membership, via, created_ms, last_seen_ms, expires_ms, idle_expires_ms,
  network, user_agent`;

/** Inserts a session, as a statement of its own or within the one that uses a token. */
export const INSERT_SESSION = `insert into people.sessions (token_hash, ${COLUMNS})`;

export const sessionValues = (row: NewSessionRow): readonly unknown[] => [
  row.tokenHash,
  row.session,
  row.csrfHash,
  row.user,
  row.org,
  row.membership,
  row.via,
  row.createdAtMs,
  row.lastSeenAtMs,
  row.expiresAtMs,
  row.idleExpiresAtMs,
  row.network,
  row.userAgent,
];

/** Rows of `people.sessions`. */
export class PostgresSessionRows extends SessionRows {
  constructor(private readonly pool: pg.Pool) {
    super();
  }

  override async find(tokenHash: Uint8Array): Promise<SessionRow | null> {
    const { rows } = await answered(
      this.pool.query<StoredRow>({
        name: 'session-find',
        text: `select ${COLUMNS} from people.sessions where token_hash = $1`,
        values: [tokenHash],
      }),
    );
    return rows[0] ? rowOf(rows[0]) : null;
  }

  override async insert(row: NewSessionRow): Promise<void> {
    const places = sessionValues(row).map((_, index) => `$${index + 1}`);
    await answered(this.pool.query(`${INSERT_SESSION} values (${places.join(', ')})`, [...sessionValues(row)]));
  }

  override async touch(
    { session, lastSeenAtMs }: Pick<SessionRow, 'session' | 'lastSeenAtMs'>,
    seenAtMs: number,
    idleExpiresAtMs: number,
  ): Promise<void> {
    await answered(
      this.pool.query(
        `update people.sessions set last_seen_ms = $3, idle_expires_ms = $4 where session = $1 and last_seen_ms = $2`,
        [session, lastSeenAtMs, seenAtMs, idleExpiresAtMs],
      ),
    );
  }

  override async ofUser(user: UserId): Promise<readonly SessionRow[]> {
    const { rows } = await answered(
      this.pool.query<StoredRow>(
        `select ${COLUMNS} from people.sessions where user_id = $1 order by created_ms desc, session desc`,
        [user],
      ),
    );
    return rows.map(rowOf);
  }

  override async remove(
    session: SessionId,
    told: { readonly why: SessionEnd; readonly atMs: number } | null,
  ): Promise<void> {
    // One statement: no cookie is ever between the two.
    await answered(
      this.pool.query(
        `with gone as (delete from people.sessions where session = $1 returning token_hash, user_id)
         insert into people.ended_sessions (token_hash, user_id, why, ended_ms)
         select token_hash, user_id, $2::text, $3::bigint from gone where $2::text is not null
         on conflict do nothing`,
        [session, told?.why ?? null, told?.atMs ?? null],
      ),
    );
  }

  override async endOf(tokenHash: Uint8Array, sinceMs: number): Promise<SessionEnd | null> {
    const { rows } = await answered(
      this.pool.query<{ why: SessionEnd }>({
        name: 'session-end',
        text: `select why from people.ended_sessions where token_hash = $1 and ended_ms > $2`,
        values: [tokenHash, sinceMs],
      }),
    );
    return rows[0]?.why ?? null;
  }
}

interface StoredRow {
  readonly session: SessionId;
  readonly csrf_hash: Buffer;
  readonly user_id: UserId;
  readonly org: OrgId;
  readonly membership: MembershipId;
  readonly via: SignedInBy;
  readonly created_ms: string;
  readonly last_seen_ms: string;
  readonly expires_ms: string;
  readonly idle_expires_ms: string;
  readonly network: string;
  readonly user_agent: string | null;
}

const rowOf = (row: StoredRow): SessionRow => ({
  session: row.session,
  user: row.user_id,
  org: row.org,
  membership: row.membership,
  via: row.via,
  csrfHash: row.csrf_hash,
  createdAtMs: Number(row.created_ms),
  lastSeenAtMs: Number(row.last_seen_ms),
  expiresAtMs: Number(row.expires_ms),
  idleExpiresAtMs: Number(row.idle_expires_ms),
  network: row.network,
  userAgent: row.user_agent,
});
