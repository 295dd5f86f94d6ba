import type { TlsOptions } from 'node:tls';

import { afterEach, describe, expect, it } from 'vitest';

import { httpAnswer, type RawUpstream, startRawUpstream } from '../../../../test/support/raw-upstream.js';
import { EgressDoor } from './egress-door.js';
import {
  EXPIRED_CERTIFICATE,
  GOOD_CERTIFICATE,
  OTHER_CERTIFICATE,
  SELF_SIGNED_CERTIFICATE,
  TEST_AUTHORITY,
} from './testing/certificates.js';

let server: RawUpstream | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const ask = async (tls: TlsOptions, { host = 'upstream.example', authorities = [TEST_AUTHORITY] } = {}) => {
  server = await startRawUpstream(() => httpAnswer(200, 'secret'), tls);
  const door = new EgressDoor({
    settings: { allowPrivate: true, allowPlainText: true, allow: [], ownEndpoints: () => [] },
    resolve: () => Promise.resolve(['127.0.0.1']),
    certificateAuthorities: authorities,
  });
  try {
    return await door.request({
      partition: 'org/con',
      origin: `https://${host}:${server.port}`,
      method: 'GET',
      target: '/',
      headers: [['Authorization', 'Bearer canary']],
      body: null,
      maxResponseBytes: 1_024,
      keptResponseBytes: 1_048_576,
      mayReuseConnection: true,
      mayStillSend: () => Promise.resolve(null),
      signal: AbortSignal.timeout(10_000),
    });
  } finally {
    door.close();
  }
};

describe('egress door: TLS (rule EGRESS-9)', () => {
  it('a good certificate of a trusted authority is accepted, by name and by address', async () => {
    expect((await ask(GOOD_CERTIFICATE)).body).toEqual(Buffer.from('secret'));
    await server?.close();
    expect((await ask(GOOD_CERTIFICATE, { host: '127.0.0.1' })).body).toEqual(Buffer.from('secret'));
  });

  it.each<[string, TlsOptions, object?]>([
    ['an expired certificate', EXPIRED_CERTIFICATE],
    ['a certificate for another name', OTHER_CERTIFICATE],
    ['a self-signed certificate', SELF_SIGNED_CERTIFICATE],
    ['an authority nobody trusts', GOOD_CERTIFICATE, { authorities: [] }],
    ['a name the certificate does not hold', GOOD_CERTIFICATE, { host: 'sub.upstream.example' }],
  ])('%s: untrusted, and the server gets no request', async (_, tls, options) => {
    await expect(ask(tls, options)).rejects.toMatchObject({ reason: 'untrusted', hasSent: false });
    expect(server?.receivedBytes).toBe(0);
  });

  it('TLS 1.1 is refused', async () => {
    const old: TlsOptions = {
      ...GOOD_CERTIFICATE,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    };
    await expect(ask(old)).rejects.toMatchObject({ reason: 'unreachable', hasSent: false });
    expect(server?.receivedBytes).toBe(0);
  });

  it('a server that speaks no TLS is unreachable, nothing sent', async () => {
    server = await startRawUpstream(() => httpAnswer(200));
    const door = new EgressDoor({
      settings: { allowPrivate: true, allowPlainText: true, allow: [], ownEndpoints: () => [] },
      resolve: () => Promise.resolve(['127.0.0.1']),
    });
    await expect(
      door.request({
        partition: 'org/con',
        origin: `https://upstream.example:${server.port}`,
        method: 'GET',
        target: '/',
        headers: [],
        body: null,
        maxResponseBytes: 1_024,
        keptResponseBytes: 1_048_576,
        mayReuseConnection: false,
        mayStillSend: () => Promise.resolve(null),
        signal: AbortSignal.timeout(500),
      }),
    ).rejects.toMatchObject({ hasSent: false });
    expect(server.requests).toEqual([]);
  });
});
