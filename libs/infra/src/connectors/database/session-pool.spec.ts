import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SessionPool } from './session-pool.js';

/** AuthenticationOk and ReadyForQuery: nothing else is ever asked here. */
const READY = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);
const ADDRESS = { url: '', database: 'shop', username: 'agent', password: 'secret' };

let server: Server;
beforeAll(async () => {
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write(READY));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => server.close());

const dial = async () => {
  const socket = connect((server.address() as { port: number }).port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
};

it('a session that is never idle is checked anew all the same', async () => {
  const pool = new SessionPool({ connect: dial }, 200);
  let checks = 0;
  const use = async (): Promise<boolean> => {
    const { session, isReused } = await pool.take('one', ADDRESS, AbortSignal.timeout(3_000), () => {
      checks += 1;
      return Promise.resolve();
    });
    pool.give('one', session);
    return isReused;
  };
  expect([await use(), await use(), checks]).toEqual([false, true, 1]);
  await expect.poll(use, { interval: 10 }).toBe(false);
  expect([await use(), checks]).toEqual([true, 2]);
});
