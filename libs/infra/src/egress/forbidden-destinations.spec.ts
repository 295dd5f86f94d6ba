import { createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { DomainError } from '#libs/domain/kernel';

import { rejected } from '../../../../test/support/thrown.js';
import type { EgressSettings } from './destination-rules.js';
import { EgressDoor, type EgressRequest } from './egress-door.js';
import { EgressFailure } from './egress-failure.js';
import type { Resolve } from './resolver.js';
import {
  ADDRESSES,
  insideV6,
  METADATA_V4,
  SPELLED,
  spellingsOf,
} from '../../../../test/support/forbidden-addresses.js';

/** Listens on every address of this machine, both families, and counts whatever arrives. */
class Canary {
  connections = 0;
  bytes = 0;
  private constructor(private readonly server: Server) {}

  static async listen(): Promise<Canary> {
    const server = createServer();
    const canary = new Canary(server);
    server.on('connection', (socket) => {
      canary.connections += 1;
      socket.on('data', (chunk) => (canary.bytes += chunk.byteLength));
      socket.on('error', () => socket.destroy());
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
    });
    await new Promise<void>((resolve) => server.listen(0, '::', resolve));
    return canary;
  }

  get port(): number {
    const address = this.server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  get heard(): readonly [connections: number, bytes: number] {
    return [this.connections, this.bytes];
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}

let canary: Canary;
beforeAll(async () => {
  canary = await Canary.listen();
});
afterAll(() => canary?.close());

const doors: EgressDoor[] = [];
afterEach(() => {
  for (const door of doors.splice(0)) door.close();
});
const doorOf = (settings: Partial<EgressSettings>, resolve: Resolve): EgressDoor => {
  const door = new EgressDoor({
    settings: { allowPrivate: false, allowPlainText: true, allow: [], ownEndpoints: () => [], ...settings },
    resolve,
  });
  doors.push(door);
  return door;
};
const requestTo = (origin: string): EgressRequest => ({
  partition: 'org_a/con_a',
  origin,
  method: 'GET',
  target: '/',
  headers: [],
  body: null,
  maxResponseBytes: 1_000,
  keptResponseBytes: 1_048_576,
  mayReuseConnection: true,
  mayStillSend: () => Promise.resolve(null),
  signal: AbortSignal.timeout(20_000),
});

/** Refused at both ends of the door, alike, and nobody heard of it. */
const expectBlocked = async (door: EgressDoor, origin: string): Promise<void> => {
  const before = canary.heard;
  const refusal = await rejected(
    DomainError,
    door.check(origin).then(() => Promise.reject(new Error(`${origin} passed`))),
  );
  expect([origin, refusal.code]).toEqual([origin, 'destination_blocked']);
  const failure = await rejected(EgressFailure, door.request(requestTo(origin)));
  expect([origin, failure.reason, failure.hasSent]).toEqual([origin, 'blocked', false]);
  expect([origin, ...canary.heard]).toEqual([origin, ...before]);
};

const originAt = (host: string, port: number, scheme = 'http'): string =>
  new URL(`${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`).origin;
const noResolver: Resolve = () => Promise.reject(new Error('a literal is not resolved'));

/** Production, and production with an operator's list that opens something else. */
const PRODUCTION: readonly (readonly [string, Partial<EgressSettings>])[] = [
  ['production', {}],
  ['production with an allow-list', { allow: ['crm.corp', '*.partner.example', '10.77.0.0/16', '[fd00:77::1]:8443'] }],
];

describe('the canary', () => {
  it('hears whoever is let through, so that its silence means something', async () => {
    const door = doorOf({ allowPrivate: true }, () => Promise.resolve(['127.0.0.1']));
    const before = canary.connections;
    expect((await door.request(requestTo(originAt('canary.example', canary.port)))).status).toBe(200);
    expect((await door.request(requestTo(originAt('::1', canary.port)))).status).toBe(200);
    expect(canary.connections).toBe(before + 2);
    expect(canary.bytes).toBeGreaterThan(0);
  });
});

describe.each(PRODUCTION)('in %s no forbidden address hears a byte', (_title, settings) => {
  it('as a literal, however it is written (E-01 to E-05, E-07)', async () => {
    const hosts = [...ADDRESSES, ...SPELLED.flatMap(spellingsOf)];
    const door = doorOf(settings, noResolver);
    for (const host of hosts) await expectBlocked(door, originAt(host, canary.port));
    expect(hosts.length).toBeGreaterThan(250);
  });

  it('at the standard port too, where a name or an address may be right and only the address is wrong', async () => {
    const door = doorOf(settings, noResolver);
    for (const host of ADDRESSES) await expectBlocked(door, originAt(host, 443, 'https'));
  });

  it('by a name that resolves there: alone, first, last, and as the one bad answer of fifty (E-04, E-08)', async () => {
    const good = (count: number) =>
      Array.from({ length: count }, (_, index) => (index % 2 ? '2606:4700::1111' : '93.184.216.34'));
    for (const bad of ADDRESSES) {
      for (const answers of [[bad], [bad, ...good(1)], [...good(1), bad], [...good(25), bad, ...good(24)]]) {
        const door = doorOf(settings, () => Promise.resolve(answers));
        await expectBlocked(door, 'https://api.example.com');
      }
    }
  });

  it('by a name that only networks inside know, whatever it resolves to (E-06)', async () => {
    const door = doorOf(settings, () => Promise.resolve(['93.184.216.34']));
    const names =
      'localhost localhost. a.localhost metadata.google.internal x.internal printer.local db.svc redis host.docker.internal';
    for (const name of names.split(' ')) await expectBlocked(door, originAt(name, 443, 'https'));
  });

  it('at the addresses that this machine has, by literal and by name', async () => {
    const own = Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address));
    for (const address of own) {
      await expectBlocked(doorOf(settings, noResolver), originAt(address, canary.port));
      await expectBlocked(
        doorOf(settings, () => Promise.resolve([address])),
        'https://api.example.com',
      );
    }
    expect(own.length).toBeGreaterThan(0);
  });
});

describe('in development with an allow-list', () => {
  const settings = { allowPrivate: true, allowPlainText: true, allow: ['crm.corp', '10.77.0.0/16'] };
  const PRIVATE = /^(?:10|127|192\.168|172\.(?:1[6-9]|2\d|3[01]))\./;
  /** Loopback and what is private is open there; all else stays shut, also where it stands inside an IPv6 address. */
  const isShut = (address: string): boolean => {
    const v4 = address.replace(/^::ffff:(?=[\d.]+$)/, '');
    return (
      !PRIVATE.test(v4) &&
      !/^(?:::1$|f[cd](?!00:ec2:|20:ce:))/.test(address) &&
      !/^::ffff:[0-9a-f]+:[0-9a-f]+$/.test(address)
    );
  };
  const shut = ADDRESSES.filter(isShut);

  it('what is neither public nor private stays shut: by literal and by name', async () => {
    expect(shut.length).toBeGreaterThan(90);
    const door = doorOf(settings, noResolver);
    for (const host of shut) {
      await expectBlocked(door, originAt(host, canary.port));
      await expectBlocked(
        doorOf(settings, () => Promise.resolve(['127.0.0.1', host])),
        originAt('api.example.com', canary.port),
      );
    }
  });

  it('metadata stays shut however it is written, and inside an IPv6 address', async () => {
    const door = doorOf(settings, noResolver);
    const forms = METADATA_V4.split(' ').flatMap((address) => [...spellingsOf(address), ...insideV6(address)]);
    for (const host of forms) await expectBlocked(door, originAt(host, canary.port));
  });
});
