import type pg from 'pg';
import { sqlStateOf } from './sql-state.js';

/** How often an installation is tried if it ends in a deadlock with other users of its tables. */
const TRIES = 5;

/** PostgreSQL documentation, appendix A: deadlock_detected. */
const DEADLOCK = '40P01';

/**
 * Runs the statements that create a schema, all or none of them. Each says `if not exists`, so this may be done at
 * every start, even by several processes at once; the advisory lock keeps them apart, because that clause alone does
 * not. Even if nothing is missing, a table may be locked against writers for a moment; an installation that the
 * database ends because of a deadlock with them is tried again.
 *
 * @param name names what is installed; processes that install the same wait for each other
 */
export const installSchema = async (pool: pg.Pool, name: string, statements: readonly string[]): Promise<void> => {
  for (let tries = 1; ; tries += 1) {
    try {
      await installOnce(pool, name, statements);
      return;
    } catch (error) {
      if (sqlStateOf(error) !== DEADLOCK || tries === TRIES) throw error;
    }
  }
};

const installOnce = async (pool: pg.Pool, name: string, statements: readonly string[]): Promise<void> => {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock(hashtext($1))', [`install ${name} schema`]);
    for (const statement of statements) await client.query(statement);
    await client.query('commit');
    client.release();
  } catch (error) {
    // Closing the connection ends the transaction even if a rollback could not reach the server.
    client.release(true);
    throw error;
  }
};

/**
 * A statement that adds a column to a table of an older version. `alter table … add column if not exists` would lock
 * the table against everybody, even readers, at every start, so this one first looks whether the column exists. It must
 * come right after the statement that creates the table and before its indexes, so that the transaction does not hold a
 * weaker lock on the table yet.
 *
 * @param table with its schema
 */
export const addColumn = (table: string, column: string, definition: string): string => `
do $add$ begin
  if not exists (select from pg_attribute
                  where attrelid = '${table}'::regclass and attname = '${column}' and not attisdropped) then
    alter table ${table} add column ${column} ${definition};
  end if;
end $add$`;
