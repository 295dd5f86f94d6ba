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

  it('proxy settings of the environment are ignored (rule EGRESS-1)', async () => {
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
        await vi.waitFor(() => expect(door).toBeDefined(), { timeout: 20_000 });
        await new Promise((resolve) => setImmediate(resolve));
        await new Promise((resolve) => setImmediate(resolve));
      }
      return null;
    });
    expect(await door.request(requestTo(server.port, { mayStillSend: asked }))).toMatchObject({ status: 200 });
    expect([asked.mock.calls.length, server.connections, server.requests.length]).toEqual([2, 2, 2]);
  });
});

describe('egress door: refusals', () => {
  it('all read alike, of a port that is open inside and of one that is not (rule EGRESS-7)', async () => {
    const open = await upstream();
    const closed = await startRawUpstream(() => null);
    await closed.close();
    const settings = { allowPrivate: false, allow: ['a.example', 'b.example'] };
    const door = doorOf(settings, (host) => Promise.resolve([host === 'b.example' ? '169.254.0.1' : '127.0.0.1']));
    const messages = new Set<string>();
    for (const url of [
      `http://a.example:${open.port}`,
      `http://a.example:${closed.port}`,
      `http://b.example:${open.port}`,
      `https://127.0.0.1:${open.port}`,
      'https://127.0.0.1:1',
      'https://c.example',
      'https://localhost',
      'https://metadata.google.internal',
      'https://10.0.0.1',
      'https://8.8.8.8:22',
    ]) {
      const { origin } = new URL(url);
      messages.add(
        await door.check(url).then(
          () => 'passed',
          (error: unknown) => JSON.stringify(error),
        ),
      );
      messages.add(
        await door.request(requestTo(1, { origin })).then(
          () => 'answered',
          ({ message }: Error) => message,
        ),
      );
    }
    expect([...messages, open.connections]).toEqual([
      expect.stringMatching(/"code":"destination_blocked".*"status":400/),
      'the request failed: blocked',
      0,
    ]);
  });

  it('our own port is blocked also where everything private is open (rule EGRESS-6)', async () => {
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

describe('egress door: names that do not resolve', () => {
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
