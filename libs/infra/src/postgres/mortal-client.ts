import type pg from 'pg';
import { DatabaseClient } from './database-client.js';

/**
 * Ends with its first unanswered statement. pg by itself gives up the wait after `query_timeout` and keeps the connection: a
 * pool that is handed it back would make everybody after it wait behind the same statement.
 */
export class MortalClient extends DatabaseClient {
  constructor(config: pg.ClientConfig = {}) {
    super(config);
    const query = super.query.bind(this) as (...call: unknown[]) => unknown;
    this.query = ((...call: unknown[]): unknown => {
      const answer = query(...call);
      // Who hands a callback over, as `pool.query` does, also hands the error to the pool.
      if (answer instanceof Promise) answer.catch((error: unknown) => this.endAfter(error));
      return answer;
    }) as pg.Client['query'];
  }

  private endAfter(error: unknown): void {
    if (!(error instanceof Error && error.message === 'Query read timeout')) return;
    // With a statement under way this destroys the socket: nothing is waited for.
    this.end().catch(() => undefined);
  }
}
