import { describe, expect, it, vi } from 'vitest';

import { cleanUpAfterEach, givenMcp, TOKEN } from './testing/given-mcp.js';
import {
  eventOf,
  legacyAnswers,
  type McpRequest,
  openStream,
  resultOf,
  sendText,
} from '../../../../../test/support/mcp-server.js';

cleanUpAfterEach();

const FOUND = { content: [{ type: 'text', text: 'found' }] };
const UNKNOWN = { status: 'unknown', errorCode: 'upstream_error' };
/** Opens a stream that says something and stays open. */
const saying = (request: McpRequest, said: string | Buffer): null => {
  openStream(request).write(said);
  return null;
};
const notification = { jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } };

describe('an answer on an event stream', () => {
  it('is taken when it is there, and the stream is not waited for', async () => {
    const { send, server } = await givenMcp();
    const closed = vi.fn();
    server.set({
      'tools/call': (request) => {
        request.response.on('close', closed);
        openStream(request).write(`: hello\n\n${eventOf(notification)}${eventOf(resultOf(request, FOUND))}`);
        return null;
      },
    });
    expect(await send()).toMatchObject({ status: 'succeeded', result: FOUND });
    await vi.waitFor(() => expect(closed).toHaveBeenCalled(), 5_000);
  });

  it('is read however its bytes are cut', async () => {
    const { send, server } = await givenMcp();
    const text = 'ä€𝄞 '.repeat(2_000);
    server.set({
      'tools/call': (request) => {
        const stream = openStream(request);
        const bytes = Buffer.from(eventOf(resultOf(request, { content: [{ type: 'text', text }] })));
        const write = (at: number): void => {
          if (at >= bytes.byteLength) return;
          stream.write(bytes.subarray(at, at + 997), () => write(at + 997));
        };
        write(0);
        return null;
      },
    });
    expect(await send()).toMatchObject({ status: 'succeeded', result: { content: [{ text }] } });
  });

  it('is the one with the id of the call, whatever else the stream says', async () => {
    const { send, server } = await givenMcp();
    server.set({
      'tools/call': (request) => {
        const other = { content: [{ type: 'text', text: 'other' }] };
        const stray = (id: unknown) => eventOf({ jsonrpc: '2.0', id: id as number, result: other });
        openStream(request).write(
          stray(Number(request.id) + 1) +
            stray(JSON.stringify(request.id)) +
            stray(null) +
            eventOf(resultOf(request, FOUND)),
        );
        return null;
      },
    });
    expect(await send()).toMatchObject({ status: 'succeeded', result: FOUND });
  });

  it.each<[what: string, said: (request: McpRequest) => string | Buffer]>([
    [
      'with a repeated member',
      ({ id }) => `data: {"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{},"result":{}}\n\n`,
    ],
    ['that is no JSON', () => 'data: found\n\n'],
    ['that is no text', () => Buffer.from([0x64, 0x61, 0x74, 0x61, 0x3a, 0xff, 0x0a, 0x0a])],
  ])('%s: unknown', async (_, said) => {
    const { send, server } = await givenMcp();
    server.set({ 'tools/call': (request) => saying(request, said(request)) });
    expect(await send()).toMatchObject(UNKNOWN);
  });

  it.each(['end', 'destroy'] as const)('that is over without it (%s): unknown', async (how) => {
    const { send, server } = await givenMcp();
    server.set({
      'tools/call': (request) => {
        const stream = openStream(request);
        stream.write(eventOf(notification, 'event-1'), () => stream[how]());
        return null;
      },
    });
    expect(await send()).toMatchObject(UNKNOWN);
    // Streams of the modern revision cannot be taken up again.
    expect(server.requests.filter(({ httpMethod }) => httpMethod === 'GET')).toHaveLength(0);
  });

  it('that stays silent: unknown at the time of the request', async () => {
    const { send, server } = await givenMcp({ config: { timeout_ms: 300 } });
    server.set({ 'tools/call': (request) => saying(request, ': nothing yet\n\n') });
    expect(await send()).toMatchObject({ status: 'unknown', errorCode: 'timeout' });
  });

  it('with an event that never ends: too large', async () => {
    const { send, server } = await givenMcp();
    server.set({
      'tools/call': (request) => {
        const stream = openStream(request);
        const more = (): void => void (stream.destroyed || stream.write('data: '.padEnd(60_000, 'a'), more));
        more();
        return null;
      },
    });
    expect(await send()).toMatchObject({ status: 'unknown', errorCode: 'response_too_large' });
  });

  it('what the server asks on it is not answered in the modern revision', async () => {
    const { send, server } = await givenMcp();
    server.set({
      'tools/call': (request) => {
        openStream(request).write(
          eventOf({ jsonrpc: '2.0', id: 'q', method: 'ping' }) + eventOf(resultOf(request, FOUND)),
        );
        return null;
      },
    });
    expect(await send()).toMatchObject({ status: 'succeeded' });
    expect(server.of('')).toHaveLength(0);
  });
});

describe('an event stream of a handshake revision', () => {
  const asking = async (method: string) => {
    const { send, server } = await givenMcp({ answers: legacyAnswers() });
    const called: McpRequest[] = [];
    server.set({
      'tools/call': (request) => {
        called.push(request);
        openStream(request).write(eventOf({ jsonrpc: '2.0', id: 'question', method, params: {} }));
        return null;
      },
      '': (request) => {
        const [call] = called;
        call?.response.write(eventOf(resultOf(call, FOUND)));
        return sendText(request, 202);
      },
    });
    const outcome = await send();
    return { outcome, said: server.of('')[0] };
  };

  it('a ping on it is answered, and the call goes on', async () => {
    const { outcome, said } = await asking('ping');
    expect(outcome).toMatchObject({ status: 'succeeded' });
    expect(said?.body).toEqual({ jsonrpc: '2.0', id: 'question', result: {} });
    expect(said?.headers).toMatchObject({ 'mcp-session-id': 'session-2', authorization: `Bearer ${TOKEN}` });
  });

  it.each(['elicitation/create', 'sampling/createMessage', 'roots/list'])('%s is answered with no', async (method) => {
    const { outcome, said } = await asking(method);
    expect(outcome).toMatchObject({ status: 'succeeded' });
    expect(said?.body).toMatchObject({ id: 'question', error: { code: -32601 } });
  });

  it('that broke off after an event with an id is taken up again, which calls nothing', async () => {
    const { send, server } = await givenMcp({ answers: legacyAnswers() });
    const called: McpRequest[] = [];
    server.set({
      'tools/call': (request) => {
        called.push(request);
        const stream = openStream(request);
        stream.write(`retry: 10\nid: event-7\ndata:\n\n`, () => stream.end());
        return null;
      },
      GET: (request) => {
        openStream(request).write(eventOf(resultOf(called[0] as McpRequest, FOUND), 'event-8'));
        return null;
      },
    });
    expect(await send()).toMatchObject({ status: 'succeeded', result: FOUND });
    const gets = server.requests.filter(({ httpMethod }) => httpMethod === 'GET');
    expect(gets.map(({ headers }) => [headers['last-event-id'], headers.accept, headers['mcp-session-id']])).toEqual([
      ['event-7', 'text/event-stream', 'session-2'],
    ]);
    expect(server.of('tools/call')).toHaveLength(1);
  });

  it('is taken up again ten times at most', async () => {
    const { send, server } = await givenMcp({ answers: legacyAnswers() });
    const broken = (request: McpRequest) => {
      const stream = openStream(request);
      stream.write(`retry: 1\nid: event-1\ndata:\n\n`, () => stream.end());
      return null;
    };
    server.set({ 'tools/call': broken, GET: broken });
    expect(await send()).toMatchObject(UNKNOWN);
    expect(server.requests.filter(({ httpMethod }) => httpMethod === 'GET')).toHaveLength(10);
  });

  it('is not taken up again where the server does not offer it', async () => {
    const { send, server } = await givenMcp({ answers: legacyAnswers() });
    server.set({
      'tools/call': (request) => {
        const stream = openStream(request);
        stream.write(`retry: 1\nid: event-1\ndata:\n\n`, () => stream.end());
        return null;
      },
    });
    expect(await send()).toMatchObject(UNKNOWN);
    expect(server.requests.filter(({ httpMethod }) => httpMethod === 'GET')).toHaveLength(1);
  });

  it('that broke off before any event with an id: unknown', async () => {
    const { send, server } = await givenMcp({ answers: legacyAnswers() });
    server.set({
      'tools/call': (request) => {
        openStream(request).end(eventOf(notification));
        return null;
      },
    });
    expect(await send()).toMatchObject(UNKNOWN);
    expect(server.requests.filter(({ httpMethod }) => httpMethod === 'GET')).toHaveLength(0);
  });
});
