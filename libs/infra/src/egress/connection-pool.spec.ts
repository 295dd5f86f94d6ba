import { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { ConnectionPool } from './connection-pool.js';

let pool: ConnectionPool;
beforeEach(() => {
  pool = new ConnectionPool();
});
afterEach(() => {
  pool.close();
  vi.useRealTimers();
});

/** What a closed socket says comes a turn later. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

const giveMany = async (count: number, keyOf: (index: number) => string): Promise<readonly Socket[]> => {
  const sockets: Socket[] = [];
  for (let index = 0; index < count; index += 1) {
    const socket = new Socket();
    sockets.push(socket);
    pool.give(keyOf(index), socket);
    await turn();
  }
  return sockets;
};
const closedAmong = (sockets: readonly Socket[]): readonly number[] =>
  sockets.flatMap(({ destroyed }, index) => (destroyed ? [index] : []));

describe('connections that wait', () => {
  it('are 32 of one key at most: another one is closed', async () => {
    const sockets = await giveMany(33, () => 'org_a/con_a');
    expect([pool.size, closedAmong(sockets)]).toEqual([32, [32]]);
    const others = await giveMany(1, () => 'org_a/con_b');
    expect([pool.size, closedAmong(others)]).toEqual([33, []]);
  });

  it('are 512 of all keys at most: the one that waited longest makes room', async () => {
    const sockets = await giveMany(514, (index) => `org_a/con_${index % 64}`);
    expect([pool.size, closedAmong(sockets)]).toEqual([512, [0, 1]]);
  });

  it.each([
    [undefined, 4_000],
    [60_000, 4_000],
    [1_500, 1_500],
  ])('wait 4 s, and no longer than the server keeps them: told %s, %s ms', async (told, waitedMs) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const socket = new Socket();
    pool.give('org_a/con_a', socket, told);
    vi.advanceTimersByTime(waitedMs - 1);
    expect([pool.size, socket.destroyed]).toEqual([1, false]);
    vi.advanceTimersByTime(1);
    expect([pool.size, socket.destroyed]).toEqual([0, true]);
    await turn();
  });
});
