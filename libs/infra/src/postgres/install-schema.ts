import type pg from 'pg';
import { sqlStateOf } from './sql-state.js';

/** How often an installation is tried that met somebody who was at work in its tables. */
const TRIES = 5;

/** PostgreSQL documentation, appendix A: deadlock_detected. */
const DEADLOCK = '40P01';

/**
 * Runs the statements that make a schema, all or none of them. Each says `if not exists`, so this may be done at every
 * start, also by several processes at once: that clause alone does not keep two creators apart, the lock does. A table of its
 * own is locked against writers for a moment even where nothing is missing; one that the database ends for a deadlock with
 * them is tried again.
 *
 * @param name of what is installed; processes that install the same wait for each other
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
    // Closing the connection ends the transaction, also where no rollback would get through.
    client.release(true);
    throw error;
  }
};

/**
 * A column that a table of an older version lacks. `alter table … add column if not exists` would lock the table against
 * everybody, readers too, at every start; this looks first. Belongs right behind the table and before its indexes, so that no
 * weaker lock on the table is held by then.
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
