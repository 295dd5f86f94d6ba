import pg from 'pg';
import { SCRAM_ONLY } from './scram-only.js';

/** A server that does not answer the first message within this time counts as absent. */
const CONNECT_TIMEOUT_MS = 3_000;

/**
 * The class of all PostgreSQL connections, pooled or not. If its connection string says so, it never sends the password
 * in clear or as a plain hash: another program that took the port of an ended server could ask for that. And it does
 * not wait for ever for a server that is gone.
 */
export class DatabaseClient extends pg.Client {
  constructor(config: pg.ClientConfig = {}) {
    super({ connectionTimeoutMillis: CONNECT_TIMEOUT_MS, keepAlive: true, ...config });
    // The call that meets the error reports it. Without a listener an error would end the process, and a pool adds none
    // while it verifies a connection.
    this.on('error', () => undefined);
    const [name, value] = SCRAM_ONLY;
    const { connectionString } = config;
    if (!connectionString?.includes(name) || new URL(connectionString).searchParams.get(name) !== value) return;
    allowOnlyScram(this);
  }
}

/** Makes a client that has not connected yet refuse to send its password in any form but SCRAM. */
export const allowOnlyScram = (client: pg.Client): void => {
  const { connection } = client as unknown as {
    connection: { password(text: string): void; emit(event: 'error', error: Error): boolean };
  };
  // pg answers both other forms of password requests through this method; SCRAM uses other messages.
  connection.password = () => {
    connection.emit('error', new Error('the server asked for the password in another form than SCRAM'));
  };
};
