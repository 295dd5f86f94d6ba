import pg from 'pg';
import { SCRAM_ONLY } from './scram-only.js';

/** A server answers its first message within this time, or is not there. */
const CONNECT_TIMEOUT_MS = 3_000;

/**
 * Every connection of ours, in a pool or alone. It keeps the password to itself where its connection string says so (whoever
 * took the port of a server that ended could ask for it in the clear, or hashed with a salt of his own), and does not wait
 * without end for a server that is gone.
 */
export class DatabaseClient extends pg.Client {
  constructor(config: pg.ClientConfig = {}) {
    super({ connectionTimeoutMillis: CONNECT_TIMEOUT_MS, keepAlive: true, ...config });
    // It shows in the call that meets it, and ends the process where nobody listens: a pool does not while it verifies.
    this.on('error', () => undefined);
    const [name, value] = SCRAM_ONLY;
    const { connectionString } = config;
    if (!connectionString?.includes(name) || new URL(connectionString).searchParams.get(name) !== value) return;
    const { connection } = this as unknown as {
      connection: { password(text: string): void; emit(event: 'error', error: Error): boolean };
    };
    // What both other forms end in; SCRAM has messages of its own.
    connection.password = () => {
      connection.emit('error', new Error('the server asked for the password in another form than SCRAM'));
    };
  }
}
