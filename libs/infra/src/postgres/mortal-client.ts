import type pg from 'pg';
import { DatabaseClient } from './database-client.js';

/**
 * A client whose connection ends with its first unanswered statement. pg itself stops waiting after `query_timeout` but
 * keeps the connection: back in a pool, it would make the next callers wait behind the same statement.
 */
export class MortalClient extends DatabaseClient {
  constructor(config: pg.ClientConfig = {}) {
    super(config);
    const query = super.query.bind(this) as (...call: unknown[]) => unknown;
    this.query = ((...call: unknown[]): unknown => {
      const answer = query(...call);
      // A caller that passes a callback, as `pool.query` does, passes the error to the pool itself.
      if (answer instanceof Promise) answer.catch((error: unknown) => this.endAfter(error));
      return answer;
    }) as pg.Client['query'];
  }

  private endAfter(error: unknown): void {
    if (!(error instanceof Error && error.message === 'Query read timeout')) return;
    // With a statement under way this destroys the socket, so it waits for nothing.
    this.end().catch(() => undefined);
  }
}
