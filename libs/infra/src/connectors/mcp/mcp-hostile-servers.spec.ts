import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';

import type { JsonObject, JsonValue } from '#libs/crypto';

import { cleanUpAfterEach, givenMcp, TOKEN, unaskedMcp } from './testing/given-mcp.js';
import {
  eventOf,
  legacyAnswers,
  MODERN_ANSWERS,
  type McpRequest,
  openStream,
  resultOf,
  sendError,
  sendJson,
  sendText,
  startScriptedServer,
  TOOL,
} from '../../../../../test/support/mcp-server.js';

cleanUpAfterEach();

const FOUND = { content: [{ type: 'text', text: 'found' }] };
const NOT_CALLED = { status: 'failed', errorCode: 'connector_unavailable', hasSent: false };
const JSON_TYPE = { 'Content-Type': 'application/json' };
const changed = (method: string) => ({ jsonrpc: '2.0', method, params: {} });
const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const reply = ({ id }: McpRequest, result: string): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
/** Writes one piece after the other for as long as it is read. */
const endless = (request: McpRequest, piece: string): null => {
  const stream = openStream(request);
  const more = (): void => void (stream.destroyed || stream.write(piece, more));
  more();
  return null;
};

describe('a stream that is there to keep a call busy', () => {
  it('of changed lists without end: cut at what one call may read, unknown', async () => {
    const { send, server } = await givenMcp();
    const storm = eventOf(changed('notifications/tools/list_changed')).repeat(500);
    server.set({ 'tools/call': (request) => endless(request, storm) });
    const lists = server.of('tools/list').length;
    expect(await send()).toMatchObject({ status: 'unknown', errorCode: 'response_too_large' });
    expect(server.of('tools/list')).toHaveLength(lists);
  });

  it.each([': nothing\n\n', '\n', 'event: message\n\n'])('of %j without end: the same', async (piece) => {
    const { send, server } = await givenMcp();
    server.set({ 'tools/call': (request) => endless(request, piece.repeat(5_000)) });
    expect(await send()).toMatchObject({ status: 'unknown', errorCode: 'response_too_large' });
  });

  it('of a thousand notices before the answer is read to its answer', async () => {
    const { send, server } = await givenMcp();
    server.set({
      'tools/call': (request) => {
        const storm = ['tools/list_changed', 'progress', 'message', 'unheard/of'].map((name) =>
          eventOf(changed(`notifications/${name}`)),
        );
        openStream(request).write(storm.join('').repeat(250) + eventOf(resultOf(request, FOUND)));
        return null;
      },
    });
    expect(await send()).toMatchObject({ status: 'succeeded', result: FOUND });
  });

  it('of questions without end, in a handshake revision: the call ends, and each was answered with no', async () => {
    const { send, server } = await givenMcp({ answers: legacyAnswers(), config: { timeout_ms: 1_000 } });
    let asked = 0;
    server.set({
      'tools/call': (request) => {
        openStream(request).write(eventOf({ jsonrpc: '2.0', id: (asked += 1), method: 'sampling/createMessage' }));
        server.set({
          '': (answer) => {
            request.response.write(eventOf({ jsonrpc: '2.0', id: (asked += 1), method: 'elicitation/create' }));
            return sendText(answer, 202);
          },
        });
        return null;
      },
    });
    expect(await send()).toMatchObject({ status: 'unknown' });
    for (const { body } of server.of('')) expect(body).toMatchObject({ error: { code: -32601 } });
    expect(server.of('tools/call')).toHaveLength(1);
  });
});

describe('an answer that is there to break who reads it', () => {
  it.each<[what: string, text: (request: McpRequest) => string]>([
    ['ten thousand levels', (request) => reply(request, `{"content":[],"structuredContent":${nested(10_000)}}`)],
    ['a member __proto__ twice', (request) => reply(request, '{"content":[],"__proto__":{},"__proto__":{}}')],
    ['half a character', (request) => reply(request, '{"content":[{"type":"text","text":"\\ud800"}]}')],
    ['two messages', (request) => `${reply(request, '{"content":[]}')}${reply(request, '{"content":[]}')}`],
    ['a hundred levels', (request) => reply(request, `{"content":[],"structuredContent":${nested(100)}}`)],
    ['ten thousand answers', (request) => `[${`${reply(request, '[]')},`.repeat(10_000)}${reply(request, '[]')}]`],
    ['a result and an error', ({ id }) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{},"error":{}}`],
    ['half of itself', (request) => reply(request, '{"content":[').slice(0, -1)],
  ])('%s: unknown', async (_, text) => {
    const { send, server } = await givenMcp();
    server.set({ 'tools/call': (request) => sendText(request, 200, text(request), JSON_TYPE) });
    expect(await send()).toMatchObject({ status: 'unknown', errorCode: 'upstream_error', hasSent: true });
    server.set(MODERN_ANSWERS);
    expect(await send()).toMatchObject({ status: 'succeeded' });
  });

  it('compressed to a thousandth is not unpacked without bounds', async () => {
    const { send, server } = await givenMcp();
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 'a'));
    server.set({
      'tools/call': ({ response }) => {
        response.writeHead(200, { ...JSON_TYPE, 'Content-Encoding': 'gzip' }).end(bomb);
        return null;
      },
    });
    expect(await send()).toMatchObject({ status: 'unknown' });
  });
});

describe('a list that is there to break who reads it', () => {
  const listing = (tools: JsonValue) => ({ ...MODERN_ANSWERS, 'tools/list': () => ({ tools }) });
  const namesFor = async (answers: Parameters<typeof givenMcp>[0]): Promise<string[]> => {
    const { connector } = await givenMcp(answers);
    return (await connector()).discovered?.tools.map(({ name }) => name) ?? [];
  };

  it('has the good tools served, and the others left out', async () => {
    const deep = JSON.parse(`{"a":${nested(100)}}`) as JsonObject;
    const tools = [
      TOOL,
      { ...TOOL, name: 'large', description: 'a'.repeat(70_000) },
      { ...TOOL, name: 'deep', inputSchema: deep },
      { ...TOOL, name: 'no\nname' },
      { ...TOOL, name: 'n'.repeat(129) },
      { ...TOOL, name: 'no schema', inputSchema: 'x' },
      { ...TOOL, name: 'cyclic', inputSchema: { $ref: '#', type: 'object' } },
      null,
      'x',
      [],
    ];
    expect(await namesFor({ answers: listing(tools as JsonValue) })).toEqual(['search', 'cyclic']);
  });

  it.each<[what: string, answer: (request: McpRequest) => JsonObject | null]>([
    ['no list', () => ({ tools: { search: TOOL } })],
    ['a task', () => ({ resultType: 'task', taskId: '1', tools: [TOOL] })],
    ['a member twice', (request) => sendText(request, 200, reply(request, '{"tools":[],"tools":[]}'), JSON_TYPE)],
    ['five megabytes', () => ({ tools: [{ ...TOOL, description: 'a'.repeat(5_000_000) }] })],
    ['a stream without end', (request) => endless(request, ': nothing\n\n'.repeat(5_000))],
    ['a redirect', (request) => sendText(request, 307, '', { Location: 'http://elsewhere.example/mcp' })],
  ])('%s: nothing is known of the server, and nothing is called', async (_, answer) => {
    const { send, server, connector } = await givenMcp({ config: { tools_ttl_ms: 0 } });
    server.set({ 'tools/list': answer });
    const before = (await connector()).discovered;
    expect(await send()).toMatchObject(NOT_CALLED);
    expect((await connector()).discovered).toEqual(before);
    expect(server.of('tools/call')).toHaveLength(0);
  });

  it('that goes round in circles is asked for twenty times', async () => {
    const answers = { ...MODERN_ANSWERS, 'tools/list': () => ({ tools: [TOOL], nextCursor: 'again' }) };
    const { server, connector } = await givenMcp({ answers });
    expect(server.of('tools/list')).toHaveLength(20);
    expect((await connector()).discovered?.tools).toHaveLength(1);
  });
});

describe('a server that says its credential back', () => {
  it.each<[where: string, answer: (request: McpRequest, said: string) => JsonObject | null]>([
    ['an error', (request, said) => sendError(request, -32603, `no: ${said}`, { [said]: [said] })],
    ['a refusal', (request, said) => sendJson(request, 403, { why: said }, { 'X-Why': said })],
    ['a text that is no JSON', (request, said) => sendText(request, 500, `<p>${said}</p>`)],
    [
      'an error on a stream',
      (request, said) => {
        openStream(request).end(
          eventOf({ jsonrpc: '2.0', id: request.id ?? null, error: { code: 1, message: said, data: said } }),
        );
        return null;
      },
    ],
    ['a result of another kind', (_, said) => ({ resultType: 'task', taskId: said })],
    ['Base64', (_, said) => ({ content: [{ type: 'text', text: Buffer.from(said).toString('base64') }] })],
  ])('in %s: it is in no outcome', async (_, answer) => {
    const { send, server } = await givenMcp();
    server.set({ 'tools/call': (request) => answer(request, TOKEN) });
    expect(JSON.stringify(await send())).not.toContain(TOKEN);
  });

  it('in the list: it is in no definition, name or event', async () => {
    const echo = {
      ...TOOL,
      title: TOKEN,
      description: TOKEN,
      inputSchema: { properties: { [TOKEN]: { title: TOKEN } } },
    };
    const { definitions, connector, driver } = await givenMcp({
      answers: { ...MODERN_ANSWERS, 'tools/list': () => ({ tools: [echo, { ...TOOL, name: TOKEN }] }) },
    });
    const live = await connector();
    const told = [[...definitions.bodies.values()], live.discovered, driver.toolsOf(live)];
    expect(JSON.stringify(told)).not.toContain(TOKEN);
  });
});

describe('a server that sends elsewhere', () => {
  it.each(['server/discover', 'tools/list', 'tools/call'])('%s: nothing goes there', async (method) => {
    const elsewhere = await startScriptedServer();
    try {
      const { send, server, refresh } = await unaskedMcp({ config: { tools_ttl_ms: 0 } });
      if (method === 'tools/call') await refresh();
      server.set({ [method]: (request) => sendText(request, 308, '', { Location: elsewhere.url }) });
      expect(['failed', 'unknown']).toContain((await send()).status);
      expect(elsewhere.requests).toEqual([]);
    } finally {
      await elsewhere.close();
    }
  });
});
