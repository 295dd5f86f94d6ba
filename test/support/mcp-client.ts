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
    const said = this.saidModern(method, params, options);
    return this.send(said.body, { ...options, headers: said.headers });
  }

  /** `subscriptions/listen`, whose answer goes on. */
  subscribe(): Promise<DoorStream> {
    const { body, headers } = this.saidModern('subscriptions/listen', { notifications: { toolsListChanged: true } });
    return DoorStream.open(this.door, { method: 'POST', headers: this.headersWith(headers), body });
  }

  /** A call that asks for progress, once the door has begun to answer: it has waited in vain for the result by then. */
  progressing(name: string, meta: Readonly<Record<string, unknown>>): Promise<DoorStream> {
    const { body, headers } = this.saidModern('tools/call', { name }, { meta: { progressToken: name, ...meta } });
    return DoorStream.open(this.door, { method: 'POST', headers: this.headersWith(headers), body });
  }

  /** The GET of a handshake revision, on which a client hears of other tools. */
  listen(): Promise<DoorStream> {
    return DoorStream.open(this.door, { headers: this.headersWith() });
  }

  private saidModern(method: string, params: Record<string, unknown>, options: RpcOptions = {}) {
    const meta = {
      [`${MCP_META}/protocolVersion`]: MCP_MODERN,
      [`${MCP_META}/clientCapabilities`]: options.capabilities ?? {},
      ...options.meta,
    };
    const name = method === 'tools/call' && typeof params['name'] === 'string' ? { 'Mcp-Name': params['name'] } : {};
    const headers = { 'MCP-Protocol-Version': MCP_MODERN, 'Mcp-Method': method, ...name, ...options.headers };
    return { body: this.bodyOf(method, { ...params, _meta: meta }), headers };
  }

  /** Of a revision with a handshake, which no request but the first says anything of. */
  legacy(method: string, params: Record<string, unknown> = {}, options: RpcOptions = {}): Promise<RpcReplied> {
    const sent = options.meta === undefined ? params : { ...params, _meta: options.meta };
    return this.request(method, sent, options);
  }

  request(method: string, params: Record<string, unknown>, options: RpcOptions = {}): Promise<RpcReplied> {
    return this.send(this.bodyOf(method, params), options);
  }

  async send(body: string, { headers = {}, signal }: RpcOptions = {}): Promise<RpcReplied> {
    const response = await fetch(this.door, {
      method: 'POST',
      headers: this.headersWith(headers),
      body,
      ...(signal === undefined ? {} : { signal }),
    });
    return replied(response, await response.text());
  }

  private bodyOf(method: string, params: Record<string, unknown>): string {
    return JSON.stringify({ jsonrpc: '2.0', id: (this.ids += 1), method, params });
  }

  private headersWith(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
    return {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...this.key,
      ...headers,
    };
  }
}

/** An answer that goes on: its messages as they come. */
export class DoorStream {
  private text = '';
  /** Resolves when the server has ended it; rejects when the connection broke. */
  readonly ended: Promise<void>;

  private constructor(
    readonly status: number,
    response: Response,
    private readonly abort: AbortController,
  ) {
    this.ended = this.read(response);
    // Whoever closes it need not wait for its end.
    this.ended.catch(() => undefined);
  }

  static async open(url: string, init: RequestInit): Promise<DoorStream> {
    const abort = new AbortController();
    const response = await fetch(url, { ...init, signal: abort.signal });
    return new DoorStream(response.status, response, abort);
  }

  /** So far. */
  get messages(): readonly Record<string, unknown>[] {
    return messagesIn(this.text);
  }

  close(): void {
    this.abort.abort();
  }

  private async read(response: Response): Promise<void> {
    const decoder = new TextDecoder();
    for await (const piece of response.body ?? []) this.text += decoder.decode(piece as Uint8Array, { stream: true });
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

/** Each message is one line of data; the last one may still be on its way. */
const messagesIn = (stream: string): Record<string, unknown>[] =>
  [...stream.matchAll(/^data: (.*)\n/gm)].map(([, data = '']) => JSON.parse(data) as Record<string, unknown>);
