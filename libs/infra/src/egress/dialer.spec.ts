import { once } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import net, { type AddressInfo, createServer, Socket, type TcpNetConnectOpts } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { DestinationRules } from './destination-rules.js';
import { Dialer } from './dialer.js';
import { cleanUpAfterEach, cleanups, failureOf } from './testing/given-door.js';

cleanUpAfterEach();
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const FOREVER = new AbortController().signal;
const dialerTo = (...addresses: string[]) =>
  new Dialer(
    new DestinationRules({ allowPrivate: true, allowPlainText: true, allow: [], ownEndpoints: () => [] }),
    () => Promise.resolve(addresses),
  );

/** Why a dial has failed; null as long as it has not. It is asked and not waited for: no real time passes here. */
const endOf = (dial: Promise<unknown>): (() => string | null) => {
  let reason: string | null = null;
  void failureOf(dial).then((failure) => {
    reason = failure.reason;
  });
  return () => reason;
};

/** A network that takes every connection attempt and answers none. */
const silentNetwork = (): { dialled: string[]; sockets: Socket[] } => {
  const [dialled, sockets]: [string[], Socket[]] = [[], []];
  const spy = vi.spyOn(net, 'connect').mockImplementation((options: unknown) => {
    dialled.push((options as TcpNetConnectOpts).host ?? '');
    const socket = new Socket();
    sockets.push(socket);
    return socket;
  });
  // So that who imported the function by its name calls the spy, and later the function again.
  syncBuiltinESMExports();
  cleanups.push(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  return { dialled, sockets };
};

it('an address that does not answer is left after 5 s for the next one, and the fifth is not tried', async () => {
  const { dialled, sockets } = silentNetwork();
  const addresses = ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5'];
  const ended = endOf(dialerTo(...addresses).dial({ isTls: false, host: 'a.example', port: 80 }, FOREVER));
  for (const count of [1, 2, 3, 4]) {
    await vi.advanceTimersByTimeAsync(count === 1 ? 4_999 : 5_000);
    expect(dialled).toEqual(addresses.slice(0, count));
  }
  await vi.advanceTimersByTimeAsync(1);
  expect(ended()).toBe('unreachable');
  expect([dialled.length, sockets.every(({ destroyed }) => destroyed)]).toEqual([4, true]);
});

it('a server that takes the connection and says nothing to TLS is left after 5 s, too', async () => {
  const server = createServer();
  const taken = once(server, 'connection');
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const ended = endOf(dialerTo('127.0.0.1').dial({ isTls: true, host: 'a.example', port }, FOREVER));
  const [socket] = (await taken) as [Socket];
  socket.on('error', () => undefined);
  // The client's hello: the wait for the server's has begun.
  await once(socket, 'data');
  await vi.advanceTimersByTimeAsync(4_999);
  expect(ended()).toBeNull();
  await vi.advanceTimersByTimeAsync(1);
  expect(ended()).toBe('unreachable');
});

describe('a store of ours on another machine (rule EGRESS-6)', () => {
  const addresses: Record<string, readonly string[]> = {
    'db.corp': ['10.0.0.5', '10.0.0.6'],
    'alias.corp': ['10.0.0.6'],
    'other.corp': ['10.0.0.7'],
  };
  const resolve = (host: string): Promise<readonly string[]> =>
    host in addresses ? Promise.resolve(addresses[host] ?? []) : Promise.reject(new Error('ENOTFOUND'));
  const dialerBeside = (own: string) => {
    const ownEndpoints = () => [{ host: own, port: 5_432 }];
    const rules = new DestinationRules({
      allowPrivate: false,
      allowPlainText: true,
      allow: ['10.0.0.0/8'],
      ownEndpoints,
    });
    return new Dialer(rules, resolve);
  };
  const to = (host: string, port = 5_432) => ({ isTls: false, host, port });

  it.each(['db.corp', 'alias.corp', '10.0.0.5', '[::ffff:10.0.0.6]'])(
    'is not dialled as %s, whatever an operator opened',
    async (host) => {
      expect(await failureOf(dialerBeside('db.corp').addressesOf(to(host)))).toMatchObject({ reason: 'blocked' });
    },
  );

  it('is not dialled either where our setting gives its address', async () => {
    expect(await failureOf(dialerBeside('10.0.0.6').addressesOf(to('alias.corp')))).toMatchObject({
      reason: 'blocked',
    });
  });

  it('leaves its neighbours and other ports of it open', async () => {
    expect(await dialerBeside('db.corp').addressesOf(to('other.corp'))).toEqual(['10.0.0.7']);
    expect(await dialerBeside('db.corp').addressesOf(to('alias.corp', 8_443))).toEqual(['10.0.0.6']);
  });

  it('that cannot be found closes its port', async () => {
    const failure = await failureOf(dialerBeside('gone.corp').addressesOf(to('other.corp')));
    expect(failure.reason).toBe('unreachable');
  });
});
