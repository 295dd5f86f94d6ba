/** A client of the MCP door below any SDK: it sends what a test writes, and reads JSON and event streams. */
import { MCP_META, MCP_MODERN } from '#libs/domain/kernel';

export interface RpcReplied {
  readonly status: number;
  readonly headers: Headers;
  /** Every message of the answer, in order: one, or those of a stream. */
  readonly messages: readonly Record<string, unknown>[];
  /** Of the last message. */
  readonly result: Record<string, unknown>;
  readonly error: Record<string, unknown>;
}

export interface RpcOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly capabilities?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
}

export class McpClient {
  private ids = 0;

  /** @param door `/mcp/crm` on the service */
  constructor(
    private readonly door: string,
    private readonly key: Readonly<Record<string, string>>,
  ) {}

  /** Of the revision without a handshake. */
  modern(method: string, params: Record<string, unknown> = {}, options: RpcOptions = {}): Promise<RpcReplied> {
    const meta = {
      [`${MCP_META}/protocolVersion`]: MCP_MODERN,
      [`${MCP_META}/clientCapabilities`]: options.capabilities ?? {},
      ...options.meta,
    };
    const name = method === 'tools/call' && typeof params['name'] === 'string' ? { 'Mcp-Name': params['name'] } : {};
    const headers = { 'MCP-Protocol-Version': MCP_MODERN, 'Mcp-Method': method, ...name, ...options.headers };
    return this.request(method, { ...params, _meta: meta }, { ...options, headers });
  }

  /** Of a revision with a handshake, which no request but the first says anything of. */
  legacy(method: string, params: Record<string, unknown> = {}, options: RpcOptions = {}): Promise<RpcReplied> {
    const sent = options.meta === undefined ? params : { ...params, _meta: options.meta };
    return this.request(method, sent, options);
  }

  request(method: string, params: Record<string, unknown>, options: RpcOptions = {}): Promise<RpcReplied> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: (this.ids += 1), method, params });
    return this.send(body, options);
  }

  async send(body: string, { headers = {}, signal }: RpcOptions = {}): Promise<RpcReplied> {
    const response = await fetch(this.door, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        ...this.key,
        ...headers,
      },
      body,
      ...(signal === undefined ? {} : { signal }),
    });
    return replied(response, await response.text());
  }
}

const replied = (response: Response, text: string): RpcReplied => {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const messages = isStream ? messagesIn(text) : text === '' ? [] : [JSON.parse(text) as Record<string, unknown>];
  const last = messages.at(-1) ?? {};
  return {
    status: response.status,
    headers: response.headers,
    messages,
    result: (last['result'] ?? {}) as Record<string, unknown>,
    error: (last['error'] ?? {}) as Record<string, unknown>,
  };
};

/** Each message is one line of data. */
export const messagesIn = (stream: string): Record<string, unknown>[] =>
  [...stream.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data) as Record<string, unknown>);
