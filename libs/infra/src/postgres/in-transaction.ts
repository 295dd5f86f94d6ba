import type pg from 'pg';
import { answered } from './answered.js';

/** Runs a query in the transaction. If the database gives no answer, it throws the kernel's `StoreUnavailable`. */
export type Transaction = <Row extends pg.QueryResultRow>(
  text: string,
  values: readonly unknown[],
) => Promise<pg.QueryResult<Row>>;

/**
 * Runs `work` in one transaction, which is committed only if `work` succeeds. An error that `work` throws is passed on
 * unchanged.
 */
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
    // Closing the connection ends the transaction even if a rollback could not reach the server.
    client.release(true);
    throw error;
  }
};
