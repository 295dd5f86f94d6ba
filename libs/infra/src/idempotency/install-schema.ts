import type { Pool } from 'pg';

/** One process installs at a time; an arbitrary number of our own. */
const INSTALL_LOCK = 5_417_230_901;

// `id` is a digest, so keys compare byte for byte whatever the database's collation, and a row's size is bounded.
// `answer_status` is null while the first request runs. Headers and body are text: never read by the database.
const STATEMENTS = `
  CREATE SCHEMA IF NOT EXISTS idempotency;
  CREATE TABLE IF NOT EXISTS idempotency.request (
    id bytea PRIMARY KEY,
    fingerprint text NOT NULL,
    command_id text NOT NULL,
    claim text NOT NULL,
    locked_until_ms bigint NOT NULL,
    expires_at_ms bigint NOT NULL,
    answer_status integer,
    answer_headers text,
    answer_body text
  );
  CREATE INDEX IF NOT EXISTS request_by_expiry ON idempotency.request (expires_at_ms);
`;

/** Creates the table where it is not there yet. Idempotent, and safe from several processes at once. */
export const installIdempotencySchema = async (pool: Pool): Promise<void> => {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1)', [INSTALL_LOCK]);
    await client.query(STATEMENTS);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
};
