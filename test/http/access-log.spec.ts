import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bearer, clientOf, eventually } from './edge-client.js';
import { AGENT, ORG, startEdge, type TestEdge } from './edge-harness.js';
import { RawConnection, sendRaw } from './raw-http.js';
import { SampleController } from './sample.controllers.js';

let edge: TestEdge;
const { get, post } = clientOf(() => edge);

beforeAll(async () => {
  edge = await startEdge({ controllers: [SampleController] });
});
afterAll(async () => edge.close());
beforeEach(() => {
  edge.lines.length = 0;
});

/** The line is written when the answer is out, which may be a moment after the client has it. */
const line = async (): Promise<Record<string, unknown>> => {
  await eventually(() => edge.accessLines().length).toBeGreaterThan(0);
  return edge.accessLines()[0] as Record<string, unknown>;
};
const send = (lines: string, target = '/v1/health') =>
  sendRaw(edge.port, `GET ${target} HTTP/1.1\r\nHost: x\r\n${lines}\r\n`);

// In the order of a line (rule OPS-1).
const FIELDS = [
  ...[
    'request_id',
    'method',
    'route',
    'path',
    'status',
    'bytes',
    'duration_ms',
    'ip',
    'org_id',
    'agent_id',
    'action_id',
  ],
  ...['api_version', 'idempotent_replay', 'client_request_id', 'user_agent'],
  'trace_id',
];

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

describe('the access line', () => {
  it('has every field in its order and the trace behind them (rule OPS-1), also for what no route matched', async () => {
    for (const path of ['/v1/health', '/nothing', '/%zz']) {
      edge.lines.length = 0;
      await send('', path);
      expect(Object.keys(await line())).toEqual(['level', 'time', ...FIELDS, 'message']);
    }
  });

  it('says who called what', async () => {
    const { headers, text } = await get('/v1/actions/act_7?wait=3', {
      ...bearer('agent'),
      'User-Agent': 'tester/1',
      'X-Request-Id': 'mine-1',
      traceparent: `00-${TRACE}-00f067aa0ba902b7-01`,
    });
    expect(await line()).toMatchObject({
      level: 'info',
      request_id: headers.get('service-request-id'),
      method: 'GET',
      route: '/v1/actions/{id}',
      path: '/v1/actions/act_7',
      status: 200,
      bytes: Buffer.byteLength(text),
      duration_ms: expect.any(Number),
      ip: '127.0.0.1',
      org_id: ORG,
      agent_id: AGENT,
      action_id: 'act_7',
      api_version: '2026-10-01',
      idempotent_replay: '',
      client_request_id: 'mine-1',
      user_agent: 'tester/1',
      trace_id: TRACE,
    });
  });

  it('leaves empty what does not apply', async () => {
    await send('', '/nothing');
    expect(await line()).toMatchObject({
      route: 'unmatched',
      org_id: '',
      agent_id: '',
      action_id: '',
      client_request_id: '',
      user_agent: '',
      trace_id: '',
    });
    edge.lines.length = 0;
    await get('/v1/policies', bearer('admin'));
    expect(await line()).toMatchObject({ org_id: ORG, agent_id: '' });
  });

  it('counts the bytes of the body, and none for HEAD', async () => {
    await sendRaw(edge.port, 'HEAD /v1/health HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await line()).toMatchObject({ method: 'HEAD', status: 200, bytes: 0 });
  });

  it('never holds a query or a body', async () => {
    await get('/v1/actions?agent=canary-1', bearer('agent'));
    await post('/v1/actions', '{"tool":"canary-2","args":{"x":"canary-3"}}', bearer('agent'));
    await post('/v1/actions', '{"tool":"canary-4"', bearer('agent'));
    await eventually(() => edge.accessLines().length).toBe(3);
    expect(JSON.stringify(edge.lines)).not.toContain('canary');
  });

  it('clips the path to 200 characters', async () => {
    await send('', `/v1/%e2%80%ae${'x'.repeat(300)}`);
    expect((await line())['path']).toBe(`/v1/%e2%80%ae${'x'.repeat(187)}`);
  });

  it('cuts the user agent to 128 bytes and lets it forge no line', async () => {
    await send(`User-Agent: ${'a'.repeat(100)}\u0085\u009b\u00e2\u0080\u00ae${'b'.repeat(100)}\r\n`);
    const { user_agent: userAgent } = await line();
    expect(userAgent).toHaveLength(128);
    expect(userAgent).toMatch(/^[\x20-\x7e]*$/);
  });

  it.each(['', 'x'.repeat(65), 'é', 'a\tb'])('ignores the X-Request-Id %j', async (id) => {
    await send(`X-Request-Id: ${id}\r\n`);
    expect(await line()).toMatchObject({ client_request_id: '' });
  });

  it('takes an X-Request-Id of 1 to 64 printable characters, sent once', async () => {
    await send(`X-Request-Id: ${'x'.repeat(64)}\r\n`);
    expect(await line()).toMatchObject({ client_request_id: 'x'.repeat(64) });
    edge.lines.length = 0;
    await send('X-Request-Id: a\r\nX-Request-Id: a\r\n');
    expect(await line()).toMatchObject({ client_request_id: '' });
  });

  it('says 499 when the client went away before its answer', async () => {
    const connection = await RawConnection.open(edge.port);
    connection.send('GET /v1/slow HTTP/1.1\r\nHost: x\r\n\r\n');
    await get('/v1/health');
    connection.close();
    await expect
      .poll(() => edge.accessLines().filter(({ route }) => route === '/v1/slow'))
      .toEqual([expect.objectContaining({ status: 499 })]);
  });
});
