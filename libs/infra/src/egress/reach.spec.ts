import { createServer, type Server } from 'node:net';
import type { TlsOptions } from 'node:tls';

import { afterEach, describe, expect, it } from 'vitest';

import { httpAnswer, type RawUpstream, startRawUpstream } from '../../../../test/support/raw-upstream.js';
import type { EgressSettings } from './destination-rules.js';
import { EgressDoor } from './egress-door.js';
import type { Resolve } from './resolver.js';
import {
  EXPIRED_CERTIFICATE,
  GOOD_CERTIFICATE,
  OTHER_CERTIFICATE,
  SELF_SIGNED_CERTIFICATE,
  TEST_AUTHORITY,
} from './testing/certificates.js';

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean();
});

interface Given {
  readonly settings?: Partial<EgressSettings>;
  readonly resolve?: Resolve;
  readonly authorities?: readonly string[];
}

const doorOf = ({ settings, resolve, authorities = [TEST_AUTHORITY] }: Given = {}): EgressDoor => {
  const door = new EgressDoor({
    settings: { allowPrivate: true, allowPlainText: true, allow: [], ownEndpoints: () => [], ...settings },
    resolve: resolve ?? (() => Promise.resolve(['127.0.0.1'])),
    certificateAuthorities: authorities,
  });
  cleanups.push(() => door.close());
  return door;
};

const upstream = async (tls?: TlsOptions): Promise<RawUpstream> => {
  const server = await startRawUpstream(() => httpAnswer(200, 'secret'), tls);
  cleanups.push(() => server.close());
  return server;
};

const HERE = { public: 0, private: 1, special: 0 };

describe('how far a destination can be reached', () => {
  it('is told of plain text without a byte sent', async () => {
    const server = await upstream();
    expect(await doorOf().reach(`http://upstream.example:${server.port}`)).toEqual({
      kind: 'reached',
      addresses: HERE,
      tls: 'none',
    });
    expect([server.connections, server.receivedBytes]).toEqual([1, 0]);
  });

  it.each<[string, TlsOptions, object, string]>([
    ['a good certificate', GOOD_CERTIFICATE, {}, 'trusted'],
    ['an expired certificate', EXPIRED_CERTIFICATE, {}, 'expired'],
    ['a certificate for another name', OTHER_CERTIFICATE, {}, 'other_name'],
    ['a self-signed certificate', SELF_SIGNED_CERTIFICATE, {}, 'self_signed'],
    ['an authority nobody trusts', GOOD_CERTIFICATE, { authorities: [] }, 'unknown_authority'],
  ])('tells %s, and sends no request', async (_, certificate, given, tls) => {
    const server = await upstream(certificate);
    const reach = await doorOf(given).reach(`https://upstream.example:${server.port}`);
    expect(reach).toEqual({ kind: 'reached', addresses: HERE, tls });
    expect(server.requests).toEqual([]);
  });

  it('tells where something listens that speaks no TLS', async () => {
    const plain: Server = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await new Promise<void>((resolve) => void plain.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => void plain.close());
    const { port } = plain.address() as { port: number };
    expect(await doorOf().reach(`https://upstream.example:${port}`)).toMatchObject({ tls: 'no_tls' });
  });

  it('tells a refused connection, and goes on to the next address', async () => {
    const server = await upstream();
    const url = `http://upstream.example:${server.port}`;
    const two = doorOf({ resolve: () => Promise.resolve(['127.0.0.2', '127.0.0.1']) });
    expect(await two.reach(url)).toMatchObject({ kind: 'reached', addresses: { private: 2 } });
    const other = doorOf({ resolve: () => Promise.resolve(['127.0.0.2']) });
    expect(await other.reach(url)).toEqual({ kind: 'unconnected', why: 'refused' });
  });

  it('tells a name without an address', async () => {
    const nowhere = doorOf({ resolve: () => Promise.reject(new Error('ENOTFOUND')) });
    expect(await nowhere.reach('https://upstream.example')).toEqual({ kind: 'unresolved' });
  });

  it.each<[string, string, Given]>([
    ['a public name with a private address', 'https://upstream.example', { settings: { allowPrivate: false } }],
    ['the metadata of a cloud', 'http://169.254.169.254', {}],
    ['plain text in production', 'http://1.1.1.1', { settings: { allowPlainText: false, allowPrivate: false } }],
    [
      'this service itself',
      'http://127.0.0.1:81',
      { settings: { ownEndpoints: () => [{ host: '127.0.0.1', port: 81 }] } },
    ],
  ])('tells nothing of %s but that it is blocked', async (_, url, given) => {
    expect(await doorOf(given).reach(url)).toEqual({ kind: 'blocked' });
  });
});
