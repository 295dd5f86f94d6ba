import { describe, expect, it } from 'vitest';

import { ACTION, AGENT, cleanUpAfterEach, givenMcp } from './testing/given-mcp.js';
import {
  legacyAnswers,
  MODERN_ANSWERS,
  sendError,
  sendJson,
  sendText,
} from '../../../../../test/support/mcp-server.js';

cleanUpAfterEach();

const FOUND = { content: [{ type: 'text', text: 'found' }] };

describe('a server of a handshake revision', () => {
  it.each(['2025-11-25', '2025-06-18', '2025-03-26'])('of %s is called in a session', async (protocol) => {
    const { send, server, connector } = await givenMcp({ answers: legacyAnswers(protocol, ['of-lists', 'of-agent']) });
    expect(await send('search', { q: 1 })).toMatchObject({ status: 'succeeded', result: FOUND });
    expect((await connector()).discovered?.protocol).toBe(protocol);
    expect(server.requests.map(({ method, headers }) => [method, headers['mcp-session-id']])).toEqual([
      ['server/discover', undefined],
      ['initialize', undefined],
      ['notifications/initialized', 'of-lists'],
      ['tools/list', 'of-lists'],
      ['initialize', undefined],
      ['notifications/initialized', 'of-agent'],
      ['tools/call', 'of-agent'],
    ]);
    const [call] = server.of('tools/call');
    expect(call?.params).toEqual({ name: 'search', arguments: { q: 1 }, _meta: { 'service/action_id': ACTION } });
    expect(call?.headers['mcp-protocol-version']).toBe(protocol);
    expect([call?.headers['mcp-method'], call?.headers['mcp-name']]).toEqual([undefined, undefined]);
    expect(server.of('initialize')[0]?.params).toMatchObject({ protocolVersion: '2025-11-25', capabilities: {} });
  });

  it('shares no session between agents, and opens none for each call', async () => {
    const answers = legacyAnswers('2025-11-25', ['of-lists', 'of-one', 'of-other']);
    const { send, server } = await givenMcp({ answers });
    const other = { agent: AGENT.replace(/.$/, (last) => (last === '0' ? '1' : '0')) as typeof AGENT };
    await send();
    await send();
    await send('search', {}, other);
    expect(server.of('tools/call').map(({ headers }) => headers['mcp-session-id'])).toEqual([
      'of-one',
      'of-one',
      'of-other',
    ]);
  });

  it('that lost the session: this call failed, and the next one opens another', async () => {
    const { send, server } = await givenMcp({ answers: legacyAnswers('2025-11-25', ['of-lists', 'lost', 'next']) });
    await send();
    server.set({
      'tools/call': (request) => (request.headers['mcp-session-id'] === 'lost' ? sendText(request, 404) : FOUND),
    });
    expect(await send()).toMatchObject({ status: 'failed', errorCode: 'upstream_not_found', hasSent: true });
    expect(await send()).toMatchObject({ status: 'succeeded' });
    expect(server.of('tools/call').map(({ headers }) => headers['mcp-session-id'])).toEqual(['lost', 'lost', 'next']);
  });

  it('that keeps no sessions is greeted once', async () => {
    const { send, server } = await givenMcp({ answers: legacyAnswers('2025-06-18', []) });
    await send();
    await send();
    expect([server.of('initialize').length, server.of('tools/call').length]).toEqual([2, 2]);
    expect(server.of('tools/call')[0]?.headers['mcp-session-id']).toBeUndefined();
  });

  it('that serves no revision of ours is not called', async () => {
    const { send, server } = await givenMcp({ answers: legacyAnswers('2024-11-05') });
    expect(await send()).toMatchObject({ status: 'failed', errorCode: 'connector_unavailable', hasSent: false });
    expect(server.of('tools/call')).toHaveLength(0);
  });
});

describe('which dialect a server speaks', () => {
  it.each<[what: string, answer: (typeof MODERN_ANSWERS)[string]]>([
    ['404', (request) => sendText(request, 404)],
    [
      '400 without an error of the modern revision',
      (request) => sendJson(request, 400, { jsonrpc: '2.0', id: null, error: { code: -32000, message: 'x' } }),
    ],
    ['an unknown method', (request) => sendError(request, -32601)],
    ['a page', (request) => sendText(request, 200, '<p>', { 'Content-Type': 'text/html' })],
    [
      'older versions alone',
      (request) =>
        sendJson(request, 400, {
          jsonrpc: '2.0',
          id: 1,
          error: { code: -32022, message: 'x', data: { supported: ['2025-06-18'] } },
        }),
    ],
  ])('%s: it is greeted', async (_, answer) => {
    const { send, server } = await givenMcp({ answers: { ...legacyAnswers(), 'server/discover': answer } });
    expect(await send()).toMatchObject({ status: 'succeeded' });
    expect(server.of('initialize').length).toBeGreaterThan(0);
  });

  it.each([-32020, -32021, -32022])('an error %i is of the modern revision', async (code) => {
    const discover = (request: Parameters<typeof sendError>[0]) =>
      sendJson(request, 400, { jsonrpc: '2.0', id: request.id ?? null, error: { code, message: 'x' } });
    const { send, server } = await givenMcp({ answers: { ...MODERN_ANSWERS, 'server/discover': discover } });
    expect(await send()).toMatchObject({ status: 'succeeded' });
    expect(server.of('initialize')).toHaveLength(0);
  });

  it.each([401, 403, 429, 500, 503])('status %i concludes nothing: it is asked again', async (status) => {
    const { send, server } = await givenMcp({
      answers: { ...MODERN_ANSWERS, 'server/discover': (request) => sendText(request, status) },
    });
    expect(await send()).toMatchObject({ status: 'failed', hasSent: false });
    server.set(MODERN_ANSWERS);
    expect(await send()).toMatchObject({ errorCode: 'connector_unavailable' });
    expect([server.of('initialize').length, server.of('server/discover').length]).toEqual([0, 3]);
  });
});
