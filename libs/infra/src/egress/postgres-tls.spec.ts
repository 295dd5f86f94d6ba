import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { type TlsOptions, TLSSocket } from 'node:tls';

import { afterEach, describe, expect, it } from 'vitest';

import { EgressDoor } from './egress-door.js';
import { NoTlsOffered } from './postgres-tls.js';
import { EXPIRED_CERTIFICATE, GOOD_CERTIFICATE, OTHER_CERTIFICATE, TEST_AUTHORITY } from './testing/certificates.js';

const TLS_REQUEST = '0000000804d2162f';

let server: Server | undefined;
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server?.close();
});

/** Answers the question for TLS as told, and speaks it with a certificate where it says yes. Returns what it was asked. */
const listen = async (answer: string, tls: TlsOptions = GOOD_CERTIFICATE) => {
  const asked: string[] = [];
  server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.once('data', (question: Buffer) => {
      asked.push(question.toString('hex'));
      socket.write(answer);
      if (answer !== 'S') return;
      const secure = new TLSSocket(socket, { ...tls, isServer: true });
      secure.on('error', () => undefined);
      secure.on('data', (bytes: Buffer) => secure.write(bytes));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return { asked, port };
};

const doorFor = (settings: { readonly allowPlainText?: boolean } = {}) =>
  new EgressDoor({
    settings: { allowPrivate: true, allowPlainText: true, allow: [], ownEndpoints: () => [], ...settings },
    resolve: () => Promise.resolve(['127.0.0.1']),
    certificateAuthorities: [TEST_AUTHORITY],
  });

const connect = (port: number, mode: string) =>
  doorFor().connect(`postgres://upstream.example:${port}/?sslmode=${mode}`, AbortSignal.timeout(5_000));

describe('egress door: TLS of PostgreSQL', () => {
  it('is asked for first, and then spoken with whoever has the right certificate', async () => {
    const { asked, port } = await listen('S');
    const socket = await connect(port, 'verify-full');
    expect(asked).toEqual([TLS_REQUEST]);
    socket.write('hello');
    expect((await once(socket, 'data'))[0]).toEqual(Buffer.from('hello'));
    socket.destroy();
  });

  it.each([
    ['an expired certificate', EXPIRED_CERTIFICATE],
    ['a certificate for another name', OTHER_CERTIFICATE],
  ])('%s: untrusted with verify-full, encrypted all the same with require', async (_, certificate) => {
    const { port } = await listen('S', certificate);
    await expect(connect(port, 'verify-full')).rejects.toMatchObject({ reason: 'untrusted', hasSent: false });
    const socket = await connect(port, 'require');
    socket.write('hello');
    expect((await once(socket, 'data'))[0]).toEqual(Buffer.from('hello'));
    socket.destroy();
  });

  it('a server that says no is left: nothing goes in the clear', async () => {
    const { asked, port } = await listen('N');
    const refused = await connect(port, 'require').catch((error: unknown) => error);
    expect(refused).toMatchObject({ reason: 'untrusted', cause: expect.any(NoTlsOffered) as unknown });
    expect(asked).toEqual([TLS_REQUEST]);
  });

  it('whatever comes behind the yes was put there by somebody (CVE-2021-23222)', async () => {
    const { port } = await listen('SR\0\0\0\b\0\0\0\0');
    await expect(connect(port, 'require')).rejects.toMatchObject({ reason: 'untrusted' });
  });

  it('a connection test finds it as a call does', async () => {
    const good = await listen('S');
    const url = (port: number) => `postgres://upstream.example:${port}/?sslmode=verify-full`;
    expect(await doorFor().reach(url(good.port))).toMatchObject({ kind: 'reached', tls: 'trusted' });
    server?.close();
    const bad = await listen('N');
    expect(await doorFor().reach(url(bad.port))).toMatchObject({ kind: 'reached', tls: 'no_tls' });
  });

  it('without TLS it is plain text, which development alone allows', async () => {
    const { asked, port } = await listen('N');
    const url = `postgres://upstream.example:${port}/?sslmode=disable`;
    const closed = doorFor({ allowPlainText: false });
    await expect(closed.connect(url, AbortSignal.timeout(5_000))).rejects.toMatchObject({ reason: 'blocked' });
    (await doorFor().connect(url, AbortSignal.timeout(5_000))).destroy();
    expect(asked).toEqual([]);
  });
});
