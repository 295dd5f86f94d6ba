/** An MCP server below any SDK: real HTTP, and answers that a test writes, hostile ones too. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { JsonObject, JsonValue } from '#libs/crypto';

export interface McpRequest {
  readonly httpMethod: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: IncomingMessage['headers'];
  /** Null where there is no body. */
  readonly body: JsonObject | null;
  /** Of the message: `tools/call`. Empty for a response, and for what is no message. */
  readonly method: string;
  readonly params: JsonObject;
  readonly id: JsonValue | undefined;
  readonly response: ServerResponse;
}

/** What one method answers: a result, or the test's own writing on `response`. */
export type Answers = Readonly<Record<string, (request: McpRequest) => JsonObject | null>>;

export interface ScriptedServer {
  readonly url: string;
  readonly requests: readonly McpRequest[];
  /** Of one method, in the order of arrival. */
  of(method: string): readonly McpRequest[];
  /** What another answer is from now on. */
  set(answers: Answers): void;
  close(): Promise<void>;
}

export const TOOL: JsonObject = { name: 'search', description: 'Looks things up.', inputSchema: { type: 'object' } };

export const sendJson = ({ response }: McpRequest, status: number, body: JsonValue, headers = {}): null => {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
  return null;
};

export const sendText = ({ response }: McpRequest, status: number, body = '', headers = {}): null => {
  response.writeHead(status, headers).end(body);
  return null;
};

export const sendError = (request: McpRequest, code: number, message = 'no', data?: JsonValue): null =>
  sendJson(request, 200, { jsonrpc: '2.0', id: request.id ?? null, error: { code, message, ...(data && { data }) } });

/** Opens an event stream. Nothing ends it but the test. */
export const openStream = ({ response }: Pick<McpRequest, 'response'>): ServerResponse =>
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });

export const eventOf = (message: JsonValue, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: message\ndata: ${JSON.stringify(message)}\n\n`;

export const resultOf = ({ id }: McpRequest, result: JsonObject): JsonObject => ({
  jsonrpc: '2.0',
  id: id ?? null,
  result,
});

/** A server of 2026-07-28 with one tool. */
export const MODERN_ANSWERS: Answers = {
  'server/discover': () => ({ resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }),
  'tools/list': () => ({ resultType: 'complete', tools: [TOOL] }),
  'tools/call': () => ({ resultType: 'complete', content: [{ type: 'text', text: 'found' }] }),
};

/** A server of a handshake revision, with sessions. */
export const legacyAnswers = (protocol = '2025-11-25', sessions: string[] = ['session-1', 'session-2']): Answers => {
  const open = [...sessions];
  return {
    ...MODERN_ANSWERS,
    'server/discover': (request) => sendText(request, 400, 'Bad Request: no session'),
    initialize: (request) => {
      const id = open.shift();
      const headers = id === undefined ? {} : { 'Mcp-Session-Id': id };
      const result = {
        protocolVersion: protocol,
        capabilities: { tools: {} },
        serverInfo: { name: 'x', version: '1' },
      };
      return sendJson(request, 200, resultOf(request, result), headers);
    },
    'notifications/initialized': (request) => sendText(request, 202),
    ping: () => ({}),
  };
};

export const startScriptedServer = async (first: Answers = MODERN_ANSWERS): Promise<ScriptedServer> => {
  let answers = first;
  const requests: McpRequest[] = [];
  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    let text = '';
    for await (const piece of incoming) text += String(piece);
    const body = text === '' ? null : (JSON.parse(text) as JsonObject);
    const method = typeof body?.['method'] === 'string' ? body['method'] : '';
    const request: McpRequest = {
      httpMethod: incoming.method ?? '',
      target: incoming.url ?? '',
      headers: incoming.headers,
      body,
      method,
      params: (body?.['params'] ?? {}) as JsonObject,
      id: body?.['id'],
      response,
    };
    requests.push(request);
    const write = answers[body === null ? request.httpMethod : method];
    if (write === undefined) {
      sendText(request, body !== null && method === '' ? 202 : 405);
      return;
    }
    const result = write(request);
    if (result !== null) sendJson(request, 200, resultOf(request, result));
  };
  const server: Server = createServer((incoming, response) => {
    // A client that goes away is a test's doing.
    response.on('error', () => undefined);
    void answer(incoming, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://mcp.example:${port}/mcp?tenant=1`,
    requests,
    of: (method) => requests.filter((request) => request.method === method),
    set: (next) => {
      answers = { ...answers, ...next };
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
