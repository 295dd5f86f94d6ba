import pg from 'pg';
import { createWholeDatabase } from './database.js';

/** The rows of a port in a table of a database of its own, for the port's contract (test/contracts/rows-under-test.ts). */
export const tableRows = async <Port>(table: string, portOn: (pool: pg.Pool) => Port) => {
  const database = await createWholeDatabase();
  const pool = new pg.Pool({ connectionString: database.connectionString, max: 10 });
  pool.on('error', () => undefined);
  return {
    pool,
    open: () => portOn(pool),
    empty: async (): Promise<void> => {
      await pool.query(`truncate ${table}`);
    },
    close: async (): Promise<void> => {
      await pool.end();
      await database.drop();
    },
  };
};
