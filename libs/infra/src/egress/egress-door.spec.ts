import { describe, expect, it, vi } from 'vitest';

import type { ErrorCode } from '#libs/domain/kernel';

import { startRawUpstream } from '../../../../test/support/raw-upstream.js';
import { cleanUpAfterEach, doorOf, failureOf, NAME, requestTo, upstream } from './testing/given-door.js';

cleanUpAfterEach();

describe('egress door: what goes over the wire', () => {
  it('is exactly the request that was asked for', async () => {
    const server = await upstream();
    const body = Buffer.from('{"ä":1}');
    const answer = await doorOf().request(requestTo(server.port, { method: 'POST', body, mayReuseConnection: false }));
    expect(answer).toMatchObject({ status: 200, body: Buffer.from('ok'), isDecoded: true });
    expect(server.requests[0]?.head.split('\r\n')).toEqual([
      'POST /x?y=1 HTTP/1.1',
      `Host: ${NAME}:${server.port}`,
      'X-A: b',
      'Accept-Encoding: gzip, br, deflate',
      'Content-Length: 8',
      'Connection: close',
    ]);
    expect(server.requests[0]?.body).toBe('{"ä":1}');
  });

  it('a request without a body that may have one says so', async () => {
    const server = await upstream();
    await doorOf().request(requestTo(server.port, { method: 'DELETE' }));
    await doorOf().request(requestTo(server.port, { method: 'PUT' }));
    expect(server.requests.map(({ head }) => /content-length/i.test(head))).toEqual([false, true]);
  });

  it('proxy settings of the environment are ignored (E-14)', async () => {
    const proxy = await upstream();
    const server = await upstream();
    for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY']) {
      vi.stubEnv(name, `http://127.0.0.1:${proxy.port}`);
    }
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    try {
      await doorOf().request(requestTo(server.port));
    } finally {
      vi.unstubAllEnvs();
    }
    expect([server.requests.length, proxy.connections]).toEqual([1, 0]);
  });
});

describe('egress door: the last question before the first byte', () => {
  const refusing = (): Promise<ErrorCode> => Promise.resolve('agent_stopped');

  it('a refusal on a fresh connection lets no byte through', async () => {
    const server = await upstream();
    const asked = vi.fn(() => {
      expect(server.connections).toBe(1);
      return refusing();
    });
    const failure = await failureOf(doorOf().request(requestTo(server.port, { mayStillSend: asked })));
    expect(failure).toMatchObject({ reason: 'withdrawn', code: 'agent_stopped', hasSent: false });
    expect([asked.mock.calls.length, server.receivedBytes]).toEqual([1, 0]);
  });

  it('a refusal on a kept connection lets no further byte through', async () => {
    const server = await upstream();
    const door = doorOf();
    await door.request(requestTo(server.port));
    const before = server.receivedBytes;
    const failure = await failureOf(door.request(requestTo(server.port, { mayStillSend: refusing })));
    expect(failure).toMatchObject({ reason: 'withdrawn', hasSent: false });
    expect([server.receivedBytes, server.connections]).toEqual([before, 1]);
  });

  it('a question that fails is a no', async () => {
    const server = await upstream();
    const failure = await failureOf(
      doorOf().request(requestTo(server.port, { mayStillSend: () => Promise.reject(new Error('no store')) })),
    );
    expect(failure).toMatchObject({ reason: 'withdrawn', code: 'service_unavailable', hasSent: false });
    expect(server.receivedBytes).toBe(0);
  });

  it('a question that takes too long ends at the deadline, nothing sent', async () => {
    const server = await upstream();
    const signal = AbortSignal.timeout(50);
    const mayStillSend = () => new Promise<null>(() => undefined);
    expect(await failureOf(doorOf().request(requestTo(server.port, { mayStillSend, signal })))).toMatchObject({
      reason: 'timeout',
      hasSent: false,
    });
    expect(server.receivedBytes).toBe(0);
  });

  it('is asked again when a kept connection was closed meanwhile', async () => {
    const server = await upstream();
    const door = doorOf();
    await door.request(requestTo(server.port));
    const asked = vi.fn(async () => {
      if (asked.mock.calls.length === 1) {
        const closed = new Promise((resolve) => server.requests[0]?.socket.once('close', resolve));
        server.requests[0]?.socket.destroy();
        await closed;
        // The end of the connection must have crossed before the question is answered.
        await vi.waitFor(() => expect(door).toBeDefined());
        await new Promise((resolve) => setImmediate(resolve));
        await new Promise((resolve) => setImmediate(resolve));
      }
      return null;
    });
    expect(await door.request(requestTo(server.port, { mayStillSend: asked }))).toMatchObject({ status: 200 });
    expect([asked.mock.calls.length, server.connections, server.requests.length]).toEqual([2, 2, 2]);
  });
});

describe('egress door: blocked destinations get zero bytes', () => {
  const production = { allowPrivate: false };
  const LOOPBACK_FORMS = [
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '017700000001',
    '127.1',
    '127.0.1',
    '0',
    '127.0.0.1.',
    '0x7F.0x0.0x0.0x1',
    '127.000.000.001',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[0:0:0:0:0:0:0:1]',
    '１２７.０.０.１',
    '①②⑦.⓪.⓪.①',
    '127。0。0。1',
    '127．0．0．1',
    '127｡0｡0｡1',
    '%31%32%37.0.0.1',
    '169.254.169.254',
    '2852039166',
    '0xa9fea9fe',
    '[fd00:ec2::254]',
    '10.0.0.1',
    '167772161',
    '192.168.1.1',
    '172.16.0.1',
    '100.64.0.1',
    '0.0.0.0',
    '[::]',
  ];

  it.each(LOOPBACK_FORMS)('%s (E-02, E-03, E-05)', async (host) => {
    const canary = await upstream();
    const door = doorOf({ ...production, allow: [`never.example:${canary.port}`] }, () =>
      Promise.reject(new Error('a literal is not resolved')),
    );
    const origin = new URL(`http://${host}:${canary.port}`).origin;
    await expect(door.check(origin)).rejects.toMatchObject({ code: 'destination_blocked', status: 400 });
    expect(await failureOf(door.request(requestTo(canary.port, { origin })))).toMatchObject({
      reason: 'blocked',
      hasSent: false,
    });
    expect([canary.connections, canary.receivedBytes]).toEqual([0, 0]);
  });

  it('a name is judged by every answer at every dial: 200 rebinding scripts (E-08)', async () => {
    const canary = await upstream();
    const good = ['93.184.216.34', '2606:4700::1111'];
    const bad = ['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', '::ffff:127.0.0.1', '64:ff9b::7f00:1', 'fd00::1'];
    for (let script = 0; script < 200; script += 1) {
      let question = 0;
      // The check sees good answers only; the dial gets at least one bad one, at a place that moves.
      const door = doorOf({ ...production, allow: [`*.allowed.example:${canary.port}`] }, () => {
        question += 1;
        const answers = Array.from({ length: 1 + (script % 50) }, (_, i) => good[i % 2] ?? '');
        if (question > 1) answers.splice(script % answers.length, 1, bad[script % bad.length] ?? '');
        return Promise.resolve(answers);
      });
      const origin = 'https://api.example.com';
      await door.check(origin);
      const failure = await failureOf(door.request(requestTo(canary.port, { origin })));
      expect(failure).toMatchObject({ reason: 'blocked', hasSent: false });
    }
    expect(canary.connections).toBe(0);
  });

  it('all refusals read alike (E-18)', async () => {
    const open = await upstream();
    const door = doorOf(production, (host) => Promise.resolve([host === 'a.example' ? '127.0.0.1' : '10.255.255.1']));
    const messages = new Set<string>();
    for (const url of [
      `https://127.0.0.1:${open.port}`,
      'https://127.0.0.1:1',
      'https://a.example',
      'https://b.example',
      'https://localhost',
      'https://metadata.google.internal',
      'https://10.0.0.1',
      'https://8.8.8.8:22',
    ]) {
      await door.check(url).catch((error: unknown) => messages.add(JSON.stringify(error)));
      const failure = await failureOf(door.request(requestTo(1, { origin: new URL(url).origin })));
      messages.add(failure.message);
    }
    expect(messages.size).toBe(2);
    expect(open.connections).toBe(0);
  });

  it('our own port is blocked also where everything private is open (E-13)', async () => {
    const own = await upstream();
    const door = doorOf({ ownEndpoints: () => [{ host: '127.0.0.1', port: own.port }] });
    expect(await failureOf(door.request(requestTo(own.port)))).toMatchObject({ reason: 'blocked' });
    expect(own.connections).toBe(0);
  });
});

describe('egress door: outside of development', () => {
  it('nothing leaves in the clear, whatever the allow-list opens', async () => {
    const server = await upstream();
    const door = doorOf({ allowPlainText: false, allow: ['127.0.0.0/8', `127.0.0.1:${server.port}`] });
    expect(await failureOf(door.request(requestTo(server.port)))).toMatchObject({ reason: 'blocked', hasSent: false });
    await expect(door.check(`http://127.0.0.1:${server.port}`)).rejects.toMatchObject({ code: 'destination_blocked' });
    await expect(door.check(`https://127.0.0.1:${server.port}`)).resolves.toBeUndefined();
    expect(server.connections).toBe(0);
  });
});

describe('egress door: names (F-21)', () => {
  it('a name that does not resolve: the check passes, a dial is unreachable and nothing sent', async () => {
    const door = doorOf({ allowPrivate: false }, () => Promise.reject(new Error('ENOTFOUND')));
    await expect(door.check('https://api.example.com')).resolves.toBeUndefined();
    const failure = await failureOf(door.request(requestTo(443, { origin: 'https://api.example.com' })));
    expect(failure).toMatchObject({ reason: 'unreachable', hasSent: false });
  });

  it('an inner name that does not resolve is refused at the check', async () => {
    const door = doorOf({ allowPrivate: false }, () => Promise.reject(new Error('ENOTFOUND')));
    for (const name of ['localhost', 'db.internal', 'printer.local', 'redis']) {
      await expect(door.check(`https://${name}`)).rejects.toMatchObject({ code: 'destination_blocked' });
    }
  });

  it('a resolver that never answers ends at the deadline', async () => {
    const door = doorOf({}, () => new Promise(() => undefined));
    const failure = await failureOf(door.request(requestTo(80, { signal: AbortSignal.timeout(50) })));
    expect(failure).toMatchObject({ reason: 'timeout', hasSent: false });
  });

  it('the next address is tried when one refuses the connection', async () => {
    const server = await upstream();
    const door = doorOf({}, () => Promise.resolve(['127.0.0.2', '127.0.0.1']));
    expect((await door.request(requestTo(server.port))).status).toBe(200);
  });

  it('a refused connection is unreachable, nothing sent', async () => {
    const server = await startRawUpstream(() => null);
    await server.close();
    expect(await failureOf(doorOf().request(requestTo(server.port)))).toMatchObject({
      reason: 'unreachable',
      hasSent: false,
    });
  });
});
