import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDurablePool } from './pools.js';
import { isDatabaseUnusable } from './unusable.js';

/** The error with which an attempt fails, as it is. */
const failure = (attempt: Promise<unknown>): Promise<Error> =>
  attempt.then(
    () => expect.fail('it succeeded'),
    (error: unknown) => error as Error,
  );

let server: Server;
let sockets: Socket[];
let connectionString: string;

beforeEach(async () => {
  sockets = [];
  server = createServer((socket) => sockets.push(socket.on('error', () => undefined))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  connectionString = `postgres://a:b@127.0.0.1:${(server.address() as AddressInfo).port}/x`;
});
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

describe('a database that accepts a connection and does not answer is unusable, by the error of', () => {
  it('a client', async () => {
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: 50 });
    expect(isDatabaseUnusable(await failure(client.connect()))).toBe(true);
  });

  it('a pool, for the caller that connects and for one that waits', async () => {
    const pool = new pg.Pool({ connectionString, connectionTimeoutMillis: 50, max: 1 });
    const failures = await Promise.all([failure(pool.query('select 1')), failure(pool.query('select 1'))]);
    expect(failures.map(isDatabaseUnusable)).toEqual([true, true]);
    await pool.end();
  });

  it('a server that ends the conversation', async () => {
    const pool = createDurablePool({
      connectionString,
      applicationName: 'a spec',
      maxConnections: 1,
      onError: () => undefined,
    });
    server.on('connection', (socket) => socket.end());
    expect(isDatabaseUnusable(await failure(pool.query('select 1')))).toBe(true);
    await pool.end();
  });

  it('but an error of our own is none', () => {
    expect(isDatabaseUnusable(new TypeError('x is undefined'))).toBe(false);
  });
});
