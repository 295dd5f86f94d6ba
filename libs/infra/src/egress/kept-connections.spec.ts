import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it, vi } from 'vitest';

import { placeFailpoints } from '#libs/domain/kernel';

import { deferred } from '../../../../test/support/deferred.js';
import { httpAnswer } from '../../../../test/support/raw-upstream.js';
import {
  cleanUpAfterEach,
  cleanups,
  doorOf,
  failureOf,
  requestTo,
  toLoopback,
  upstream,
} from './testing/given-door.js';

cleanUpAfterEach();

describe('egress door: kept connections (rule EGRESS-8)', () => {
  it('are used again by the same connector', async () => {
    const server = await upstream();
    const door = doorOf();
    for (let turn = 0; turn < 3; turn += 1) await door.request(requestTo(server.port));
    expect([server.connections, server.requests.length]).toEqual([1, 3]);
  });

  it('are used any number of times, and nothing is left on them', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    const server = await upstream();
    const door = doorOf();
    for (let turn = 0; turn < 30; turn += 1) await door.request(requestTo(server.port));
    process.off('warning', onWarning);
    expect([server.connections, warnings]).toEqual([1, []]);
  });

  it('are never shared with another organization or connector', async () => {
    const server = await upstream();
    const door = doorOf();
    for (const partition of ['org_a/con_a', 'org_b/con_a', 'org_a/con_b']) {
      await door.request(requestTo(server.port, { partition }));
    }
    expect(server.connections).toBe(3);
  });

  it('are never used by a request that must be sent once', async () => {
    const server = await upstream();
    const door = doorOf();
    await door.request(requestTo(server.port));
    await door.request(requestTo(server.port, { method: 'POST', mayReuseConnection: false }));
    expect(server.connections).toBe(2);
  });

  it('one that speaks unasked is closed and its words are no answer', async () => {
    const server = await upstream();
    const door = doorOf();
    // The idle timeout, which would close it too, never comes.
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    cleanups.push(() => void vi.useRealTimers());
    await door.request(requestTo(server.port));
    const socket = server.requests[0]?.socket;
    const closed = new Promise((resolve) => socket?.once('close', resolve));
    socket?.write(httpAnswer(200, 'smuggled'));
    await closed;
    expect((await door.request(requestTo(server.port))).body).toEqual(Buffer.from('ok'));
    expect(server.connections).toBe(2);
  });

  it('one that speaks while its answer is still being read is closed too', async () => {
    const server = await upstream();
    const door = doorOf();
    const answered = deferred<void>();
    const goOn = deferred<void>();
    placeFailpoints({
      isArmed: () => false,
      hit: () => {
        answered.resolve();
        return goOn.promise;
      },
    });
    cleanups.push(() => placeFailpoints(null));
    const first = door.request(requestTo(server.port));
    await answered.promise;
    const socket = server.requests[0]?.socket;
    const closed = new Promise((resolve) => socket?.once('close', resolve));
    socket?.write(httpAnswer(200, 'smuggled'));
    await closed;
    goOn.resolve();
    expect((await first).body).toEqual(Buffer.from('ok'));
    expect((await door.request(requestTo(server.port))).body).toEqual(Buffer.from('ok'));
    expect(server.connections).toBe(2);
  });

  it('one whose server answers early and reads no further is not waited for', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        socket.pause();
        socket.write(httpAnswer(413, 'too much'));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => void server.close());
    const { port } = server.address() as AddressInfo;
    // More than the buffers of both sides hold.
    const body = Buffer.alloc(32 * 1_024 * 1_024);
    const signal = AbortSignal.timeout(15_000);
    const answer = await doorOf().request(requestTo(port, { method: 'PUT', body, signal }));
    expect(answer).toMatchObject({ status: 413, body: Buffer.from('too much') });
    expect(signal.aborted).toBe(false);
  });

  it('are judged anew after a minute, however busy they are', async () => {
    const server = await upstream();
    const resolve = vi.fn(toLoopback);
    const door = doorOf({}, resolve);
    vi.useFakeTimers({ toFake: ['performance'] });
    cleanups.push(() => void vi.useRealTimers());
    for (const [passedMs, dialled] of [
      [0, 1],
      [30_000, 1],
      [25_000, 1],
      [5_000, 1],
      [1_000, 2],
      [1_000, 2],
    ] as const) {
      vi.advanceTimersByTime(passedMs);
      await door.request(requestTo(server.port));
      expect([passedMs, server.connections, resolve.mock.calls.length]).toEqual([passedMs, dialled, dialled]);
    }
  });

  it('one that the server gives up just then is told apart from a broken answer', async () => {
    const server = await upstream(({ index, socket }) => {
      if (index === 0) return httpAnswer(200, 'ok');
      socket.resetAndDestroy();
      return null;
    });
    const door = doorOf();
    await door.request(requestTo(server.port));
    expect(await failureOf(door.request(requestTo(server.port)))).toMatchObject({ reason: 'broken', isStale: true });
    expect(await failureOf(door.request(requestTo(server.port)))).toMatchObject({ reason: 'broken', isStale: false });
  });

  it('Connection: close of the server is obeyed', async () => {
    const server = await upstream(() => httpAnswer(200, 'ok', { Connection: 'close' }));
    const door = doorOf();
    await door.request(requestTo(server.port));
    await door.request(requestTo(server.port));
    expect(server.connections).toBe(2);
  });
});
