import { gzipSync } from 'node:zlib';

import { describe, expect, it, vi } from 'vitest';

import { digestOfJson, type JsonObject } from '#libs/crypto';
import { DomainError } from '#libs/domain/kernel';

import { collectingLogger } from '../../../../../test/support/collecting-logger.js';
import { httpAnswer, jsonAnswer, type RawAnswer } from '../../../../../test/support/raw-upstream.js';
import { ACTION, type GivenCredential } from './testing/given-call.js';
import { bearer, cleanUpAfterEach, given } from './testing/given-upstream.js';

cleanUpAfterEach();

describe('REST driver: the credential (rule REST-9)', () => {
  it.each<[string, JsonObject, GivenCredential, RegExp]>([
    ['bearer', { kind: 'bearer' }, bearer, /^Authorization: Bearer canary-token-0123456789$/m],
    [
      'header',
      { kind: 'header', header: 'X-Key' },
      { kind: 'header', values: { value: 'abc def' } },
      /^X-Key: abc def$/m,
    ],
    [
      'basic',
      { kind: 'basic' },
      { kind: 'basic', values: { username: 'u', password: 'ö:x' } },
      /^Authorization: Basic dTrDtjp4$/m,
    ],
    [
      'query',
      { kind: 'query', param: 'key' },
      { kind: 'query', values: { value: 'a&b=c' } },
      /^GET \/v1\/users\?q=1&key=a%26b%3Dc HTTP\/1\.1$/m,
    ],
  ])('%s is added to the request and to nothing else', async (_, auth, credential, expected) => {
    const { send, server, vault, connector } = await given(() => jsonAnswer(200, {}), { config: { auth }, credential });
    expect(await send('list', { q: '1' })).toMatchObject({ status: 'succeeded' });
    expect(server.requests[0]?.head).toMatch(expected);
    expect(JSON.stringify(connector)).not.toContain('canary');
    expect(vault.opened.every((bytes) => bytes.every((byte) => byte === 0))).toBe(true);
  });

  it('without a stored credential nothing is sent', async () => {
    const { send, server } = await given(() => jsonAnswer(200, {}), { config: { auth: { kind: 'bearer' } } });
    expect(await send('list')).toMatchObject({
      status: 'failed',
      errorCode: 'credentials_missing',
      hasSent: false,
      retryAfterMs: null,
    });
    expect(server.connections).toBe(0);
  });

  it('a credential of another kind than the config asks for is none', async () => {
    const { send } = await given(() => jsonAnswer(200, {}), {
      config: { auth: { kind: 'basic' } },
      credential: bearer,
    });
    expect(await send('list')).toMatchObject({ status: 'failed', errorCode: 'credentials_missing' });
  });

  it('a credential removed on the way is missing, nothing sent (rule CON-4)', async () => {
    const { send, vault, connector, server } = await given(() => jsonAnswer(200, {}), {
      config: { auth: { kind: 'bearer' } },
      credential: bearer,
    });
    await vault.destroy({ org: connector.org, object: connector.id, version: 'v1' });
    expect(await send('list')).toMatchObject({ errorCode: 'credentials_missing', hasSent: false });
    expect(server.connections).toBe(0);
  });

  it('a vault that cannot open it fails the call, nothing sent', async () => {
    const { send, vault, server } = await given(() => jsonAnswer(200, {}), {
      config: { auth: { kind: 'bearer' } },
      credential: bearer,
    });
    vi.spyOn(vault, 'open').mockRejectedValue(new DomainError('vault_unavailable'));
    expect(await send('list')).toMatchObject({ status: 'failed', errorCode: 'vault_unavailable', hasSent: false });
    expect(server.connections).toBe(0);
  });

  it('auth none sends no stored credential', async () => {
    const { send, server } = await given(() => jsonAnswer(200, {}), { credential: bearer });
    await send('list');
    expect(server.requests[0]?.head).not.toContain('canary');
  });
});

describe('REST driver: what is never forwarded (rule REST-10)', () => {
  it('the request holds our own headers and the tool’s, no others', async () => {
    const { send, server } = await given(() => jsonAnswer(200, {}), {
      config: { auth: { kind: 'bearer' } },
      credential: bearer,
    });
    await send('pay');
    const names = server.requests[0]?.head
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(':')[0]);
    expect(names).toEqual([
      'Host',
      'User-Agent',
      'Accept',
      'Service-Action-Id',
      'Idempotency-Key',
      'Authorization',
      'Accept-Encoding',
      'Content-Length',
      'Connection',
    ]);
    expect(server.requests[0]?.head).toContain(`Idempotency-Key: ${ACTION}`);
  });
});

describe('REST driver: outcomes (rule EXEC-4)', () => {
  it.each([
    [200, 'succeeded', null],
    [401, 'failed', 'upstream_auth_failed'],
    [403, 'failed', 'upstream_auth_failed'],
    [404, 'failed', 'upstream_not_found'],
    [409, 'failed', 'upstream_error'],
    [429, 'failed', 'upstream_rate_limited'],
    [500, 'unknown', 'upstream_error'],
    [503, 'unknown', 'upstream_error'],
  ])('%i: %s, %s, with the body kept', async (status, outcome, errorCode) => {
    const { send } = await given(() => jsonAnswer(status, { why: 'x' }));
    expect(await send('create')).toMatchObject({
      status: outcome,
      errorCode,
      hasSent: true,
      retryAfterMs: null,
      result: { status, body: { why: 'x' } },
    });
  });

  it('no answer in time is unknown', async () => {
    const { send } = await given(() => null);
    expect(await send('create', {}, { deadlineMonotonicMs: performance.now() + 100 })).toMatchObject({
      status: 'unknown',
      errorCode: 'timeout',
      hasSent: true,
      result: null,
    });
  });

  it('a deadline that has passed sends nothing', async () => {
    const { send, server } = await given(() => jsonAnswer(200, {}));
    expect(await send('create', {}, { deadlineMonotonicMs: performance.now() - 1 })).toMatchObject({
      status: 'failed',
      errorCode: 'connector_unavailable',
      hasSent: false,
    });
    expect(server.receivedBytes).toBe(0);
  });

  it('a connection that breaks after the request is unknown', async () => {
    const { send } = await given(({ socket }) => {
      socket.resetAndDestroy();
      return null;
    });
    expect(await send('create')).toMatchObject({
      status: 'unknown',
      errorCode: 'upstream_error',
      hasSent: true,
      result: null,
    });
  });

  it('a refusal whose body is cut off is still a refusal', async () => {
    const { send } = await given(({ socket }) => {
      socket.end(httpAnswer(404, 'x', { 'Content-Length': '10' }));
      return null;
    });
    expect(await send('create')).toMatchObject({ status: 'failed', errorCode: 'upstream_not_found', hasSent: true });
  });

  it('an answer over max_response_bytes is unknown: it ran', async () => {
    const { send } = await given(() => httpAnswer(200, gzipSync(Buffer.alloc(2_000)), { 'Content-Encoding': 'gzip' }), {
      config: { max_response_bytes: 1_024 },
    });
    expect(await send('create')).toMatchObject({
      status: 'unknown',
      errorCode: 'response_too_large',
      hasSent: true,
      result: null,
    });
  });

  it('a blocked destination fails, nothing sent', async () => {
    const { send, server } = await given(() => jsonAnswer(200, {}), { settings: { allowPrivate: false } });
    expect(await send('create')).toMatchObject({
      status: 'failed',
      errorCode: 'destination_blocked',
      hasSent: false,
      retryAfterMs: null,
    });
    expect(server.connections).toBe(0);
  });

  it('a Stop before the first byte fails with its code, nothing sent', async () => {
    const { send, server } = await given(() => jsonAnswer(200, {}));
    expect(await send('get', { id: '1' }, { mayStillSend: () => Promise.resolve('agent_stopped') })).toMatchObject({
      status: 'failed',
      errorCode: 'agent_stopped',
      hasSent: false,
      retryAfterMs: null,
    });
    expect(server.receivedBytes).toBe(0);
  });

  it('arguments that build no request fail, nothing sent', async () => {
    const { send, server } = await given(() => jsonAnswer(200, {}));
    expect(await send('get', { id: '../x' })).toMatchObject({
      status: 'failed',
      errorCode: 'validation_failed',
      hasSent: false,
    });
    expect(server.connections).toBe(0);
  });
});

describe('REST driver: retries (rules EXEC-2 and EXEC-3)', () => {
  const unavailable: RawAnswer = () => jsonAnswer(503, {}, { 'Retry-After': '2' });

  it.each(['list', 'head', 'pay', 'put'])('%s may be sent again, after what the upstream asks for', async (tool) => {
    const { send, server } = await given(
      tool === 'head' ? () => httpAnswer(503, '', { 'Retry-After': '2' }) : unavailable,
    );
    expect((await send(tool)).retryAfterMs).toBe(2_000);
    expect((await send(tool, {}, { attempt: 2 })).retryAfterMs).toBe(2_000);
    expect((await send(tool, {}, { attempt: 3 })).retryAfterMs).toBeNull();
    // One request an attempt: sending again is the caller's to record first.
    expect(server.requests).toHaveLength(3);
  });

  it.each(['create', 'remove'])('%s is sent once, whatever comes back', async (tool) => {
    const breaks: RawAnswer = ({ index, socket }) => {
      if (index > 0) return jsonAnswer([429, 502, 503, 504][index - 1] ?? 503, {});
      socket.resetAndDestroy();
      return null;
    };
    const { send, server } = await given(breaks);
    for (let turn = 0; turn < 5; turn += 1) expect((await send(tool)).retryAfterMs).toBeNull();
    expect(server.requests).toHaveLength(5);
  });

  it.each([200, 400, 404, 500, 501])('%i is no reason to send again', async (status) =>
    expect((await (await given(() => jsonAnswer(status, {}))).send('list')).retryAfterMs).toBeNull(),
  );

  it('a connection that was never made is', async () => {
    const { send, server } = await given(() => null);
    await server.close();
    const outcome = await send('list');
    expect(outcome).toMatchObject({ status: 'failed', errorCode: 'connector_unavailable', hasSent: false });
    expect(outcome.retryAfterMs).toBeGreaterThanOrEqual(160);
    expect(outcome.retryAfterMs).toBeLessThanOrEqual(240);
    expect((await send('create')).retryAfterMs).toBeNull();
  });

  it.each([
    ['a closed port', () => Promise.resolve(['127.0.0.1']), 'ECONNREFUSED'],
    ['a name without an address', () => Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' })), 'ENOTFOUND'],
  ])('%s: the log says why nothing was reached, and the outcome does not', async (_, resolve, fault) => {
    const logger = collectingLogger();
    const { send, server } = await given(() => null, { resolve, logger });
    await server.close();
    expect((await send('get', { id: '1' })).errorMessage).not.toContain(fault);
    expect(logger.warnings).toMatchObject([{ action_id: ACTION, tool: 'get', reason: 'unreachable', fault }]);
  });

  it('a connection that broke after the request is not', async () => {
    const { send } = await given(({ socket }) => {
      socket.resetAndDestroy();
      return null;
    });
    expect(await send('list')).toMatchObject({ status: 'unknown', retryAfterMs: null });
  });

  it('a kept connection that the server had given up is, for a repeatable call', async () => {
    const { send } = await given(({ index, socket }) => {
      if (index === 0) return jsonAnswer(200, {});
      socket.resetAndDestroy();
      return null;
    });
    await send('list');
    expect((await send('list')).retryAfterMs).not.toBeNull();
  });

  it('never past the deadline', async () => {
    const { send } = await given(unavailable);
    expect((await send('list', {}, { deadlineMonotonicMs: performance.now() + 1_500 })).retryAfterMs).toBeNull();
  });
});

describe('REST driver: descriptions and facts', () => {
  it('describes each tool, its class and its schema', async () => {
    const { driver, connector } = await given(() => null);
    const described = driver.toolsOf(connector);
    expect(described.map(({ name, sideEffect, isRepeatable }) => [name, sideEffect, isRepeatable])).toEqual([
      ['get', 'read', true],
      ['list', 'read', true],
      ['head', 'read', true],
      ['create', 'write', false],
      ['pay', 'write', true],
      ['put', 'write', true],
      ['remove', 'destructive', false],
    ]);
    expect(driver.toolOf(connector, 'get')).toMatchObject({
      timeoutMs: 10_000,
      inputSchema: { required: ['id'] },
    });
    expect(new Set(described.map(({ digest }) => digest)).size).toBe(described.length);
  });

  it('a tool’s digest is of all that says what a call sends and where to (docs/connectors-rest.md)', async () => {
    const { driver, connector } = await given(() => null);
    const { auth, base_url, send_action_id, tools } = connector.config as Record<string, JsonObject[]>;
    const [tool] = tools as JsonObject[];
    const definition = { auth, base_url, headers: {}, send_action_id, tool } as unknown as JsonObject;
    expect(driver.toolOf(connector, 'get')?.digest).toBe(digestOfJson(definition));
  });

  it('a list in the query arrives in its style, which the tool’s digest covers', async () => {
    const digests = new Set<string | undefined>();
    for (const [style, target] of [
      ['form', '/v1/users?a=x&a=y%2Cz'],
      ['comma', '/v1/users?a=x,y%2Cz'],
      ['pipe', '/v1/users?a=x%7Cy%2Cz'],
      ['space', '/v1/users?a=x%20y%2Cz'],
      ['brackets', '/v1/users?a%5B%5D=x&a%5B%5D=y%2Cz'],
    ] as const) {
      const args = { a: { in: 'query', type: 'array', style } };
      const tools = [{ name: 'list', method: 'GET', path: '/v1/users', args }];
      const { send, server, driver, connector } = await given(() => jsonAnswer(200, {}), { config: { tools } });
      expect(await send('list', { a: ['x', 'y,z'] })).toMatchObject({ status: 'succeeded' });
      expect(server.requests[0]?.head.split('\r\n')[0]).toBe(`GET ${target} HTTP/1.1`);
      expect(await send('list', { a: [null] })).toMatchObject({ errorCode: 'validation_failed', hasSent: false });
      expect(server.requests).toHaveLength(1);
      digests.add(driver.toolOf(connector, 'list')?.digest);
    }
    expect(digests.size).toBe(5);
  });

  it.each(['nobody', 'GET', 'get ', 'gеt', '__proto__', 'constructor', ''])(
    'has no tool %j (rule CON-2)',
    async (name) => {
      const { driver, connector } = await given(() => null);
      expect(driver.toolOf(connector, name)).toBeNull();
      expect(driver.requestFacts(connector, name, {})).toEqual({});
    },
  );

  it('arguments that build no request fail, nothing sent', async () => {
    const { send, server } = await given(() => jsonAnswer(200, {}));
    expect(await send('get', { id: '..' })).toMatchObject({
      status: 'failed',
      errorCode: 'validation_failed',
      hasSent: false,
    });
    expect(server.requests).toHaveLength(0);
  });

  it('facts agree with what is sent', async () => {
    const { driver, connector, send, server } = await given(() => jsonAnswer(200, {}));
    const { http } = driver.requestFacts(connector, 'get', { id: '7' });
    await send('get', { id: '7' });
    expect(server.requests[0]?.head.split('\r\n').slice(0, 2)).toEqual([
      `${http?.method ?? ''} ${http?.path ?? ''} HTTP/1.1`,
      `Host: ${http?.host ?? ''}`,
    ]);
  });
});
