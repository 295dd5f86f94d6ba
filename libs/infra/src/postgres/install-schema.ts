import type pg from 'pg';

/**
 * Runs the statements that make a schema, all or none of them. Each says `if not exists`, so this may be done at every
 * start, also by several processes at once: that clause alone does not keep two creators apart, the lock does.
 *
 * @param name of what is installed; processes that install the same wait for each other
 */
export const installSchema = async (pool: pg.Pool, name: string, statements: readonly string[]): Promise<void> => {
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
