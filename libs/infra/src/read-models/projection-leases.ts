import pg from 'pg';
import type { ProjectionName } from './projection-checkpoint.row.js';

const CONNECT_TIMEOUT_MS = 3_000;
const ANSWER_TIMEOUT_MS = 3_000;

/**
 * Who projects: one process for each projection. A lease is a session advisory lock, so a process that ends or loses its
 * connection has let go. It only keeps others from working in vain; what keeps them from doing harm is the checkpoint.
 *
 * All leases of a process share one connection of their own.
 */
export class ProjectionLeases {
  private session: LeaseSession | null = null;

  constructor(private readonly connectionString: string) {}

  /**
   * Takes the lease, or makes sure that it is still held. False when another process has it.
   * @throws what the driver says when the database cannot be asked: then no lease is held
   */
  async hold(name: ProjectionName): Promise<boolean> {
    const session = (this.session ??= new LeaseSession(this.connectionString));
    try {
      return (await session.hold(name)) && this.session === session;
    } catch (error) {
      this.forget(session);
      throw error;
    }
  }

  /** Lets go of every lease. */
  async close(): Promise<void> {
    const session = this.session;
    this.session = null;
    await session?.end();
  }

  /** With its connection every lease of the session is gone, and another process may have them by now. */
  private forget(session: LeaseSession): void {
    if (this.session === session) this.session = null;
    session.abandon();
  }
}

class LeaseSession {
  private readonly client: pg.Client;
  private readonly connected: Promise<unknown>;
  private readonly held = new Set<ProjectionName>();
  private failure: Error | null = null;

  constructor(connectionString: string) {
    this.client = new pg.Client({
      connectionString,
      application_name: 'ags projection leases',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      keepAlive: true,
    });
    // Without a listener the loss of an idle connection would end the process.
    this.client.on('error', (error) => (this.failure = error));
    this.connected = this.client.connect();
  }

  async hold(name: ProjectionName): Promise<boolean> {
    await this.connected;
    if (this.failure) throw this.failure;
    if (this.held.has(name)) {
      await this.client.query('SELECT 1');
      return true;
    }
    const { rows } = await this.client.query<{ taken: boolean }>(
      'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS taken',
      [`service/projection/${name}`],
    );
    const isTaken = rows[0]?.taken === true;
    if (isTaken) this.held.add(name);
    return isTaken;
  }

  async end(): Promise<void> {
    await this.connected;
    await this.client.end();
  }

  /** Without waiting for a server that may be gone. */
  abandon(): void {
    this.client.end().catch((error: unknown) => (this.failure = error as Error));
  }
}
