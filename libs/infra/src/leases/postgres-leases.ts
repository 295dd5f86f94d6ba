import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** How often a process that waits for a lease asks again: takeover is well within 5 s of a kill. */
const RETRY_MS = 500;
/** How often a holder makes sure that its session still lives. */
const HEARTBEAT_MS = 1_000;

/**
 * One holder at a time: a session advisory lock, which the server frees when the holder's connection ends. A lease only
 * keeps others idle; what makes two holders harmless is the expected revision or the checkpoint (architecture, step 5).
 */
export class PostgresLeases {
  constructor(private readonly connectionString: string) {}

  /** Takes the lease if it is free now. */
  async tryTake(name: string): Promise<HeldLease | null> {
    const client = new pg.Client({
      connectionString: this.connectionString,
      application_name: `lease ${name}`,
      keepAlive: true,
    });
    const lost = new AbortController();
    client.on('error', (error) => lost.abort(error));
    client.on('end', () => lost.abort(new Error('the connection ended')));
    try {
      await client.connect();
      const { rows } = await client.query<{ taken: boolean }>(
        `select pg_try_advisory_lock(hashtextextended($1, 0)) as taken`,
        [`lease:${name}`],
      );
      if (rows[0]?.taken) return new HeldLease(client, lost);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    await client.end();
    return null;
  }

  /**
   * Runs `work` whenever the lease is held, until `signal` ends it. `work` gets a signal of its own, aborted when the
   * lease is lost: it must then stop writing and return.
   */
  async hold(
    name: string,
    signal: AbortSignal,
    work: (held: AbortSignal) => Promise<void>,
    onError: (error: unknown) => void,
  ): Promise<void> {
    while (!signal.aborted) {
      try {
        const lease = await this.tryTake(name);
        if (lease) {
          try {
            await work(AbortSignal.any([signal, lease.lost]));
          } finally {
            await lease.release();
          }
        }
      } catch (error) {
        onError(error);
      }
      if (!signal.aborted) await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

export class HeldLease {
  private readonly heartbeat: NodeJS.Timeout;

  constructor(
    private readonly client: pg.Client,
    private readonly loss: AbortController,
  ) {
    this.heartbeat = setInterval(() => {
      this.client.query('select 1').catch((error: unknown) => this.loss.abort(error));
    }, HEARTBEAT_MS);
    this.heartbeat.unref();
  }

  get lost(): AbortSignal {
    return this.loss.signal;
  }

  async release(): Promise<void> {
    clearInterval(this.heartbeat);
    await this.client.end().catch(() => undefined);
  }
}
