import type pg from 'pg';
import { answered } from './answered.js';

/** Queries of one transaction; a database that is away is the kernel's error. */
export type Transaction = <Row extends pg.QueryResultRow>(
  text: string,
  values: readonly unknown[],
) => Promise<pg.QueryResult<Row>>;

/** All of it or nothing. What `work` throws of its own stays as it is. */
export const inTransaction = async <Result>(
  pool: pg.Pool,
  work: (query: Transaction) => Promise<Result>,
): Promise<Result> => {
  const client = await answered(pool.connect());
  try {
    await answered(client.query('begin'));
    const result = await work((text, values) => answered(client.query(text, [...values])));
    await answered(client.query('commit'));
    client.release();
    return result;
  } catch (error) {
    // Closing the connection ends the transaction, also where no rollback would get through.
    client.release(true);
    throw error;
  }
};
