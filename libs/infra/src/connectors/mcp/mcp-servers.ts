import type { JsonObject } from '#libs/crypto';
import type { Vault } from '#libs/domain/connectors';
import { type Clock, MCP_MODERN } from '#libs/domain/kernel';

import { type Dialect, McpDialects, modernHeaders, modernMeta } from './mcp-dialect.js';
import { type McpSession, McpSessions, sessionHeaders, type SessionOwner } from './mcp-sessions.js';
import { type McpLine, McpWire, type RpcReply, type RpcRequest } from './mcp-wire.js';

/** What a request says beside its method and params. */
interface Beside {
  readonly headers?: RpcRequest['headers'];
  readonly meta?: JsonObject;
  readonly mayStillSend?: RpcRequest['mayStillSend'];
}

/** A server that was found to be there, in the revision of the protocol that it speaks. */
export interface McpServer {
  readonly protocol: string;
  /** @throws {EgressFailure} {UnreadableAnswer} */
  ask(method: string, params: JsonObject, beside?: Beside): Promise<RpcReply>;
}

/** Statuses by which a server says that it is not what it was taken for, or does not know the session. */
const MISTAKEN = [400, 404, 405];

/** The servers of connectors, each in its own dialect. */
export class McpServers {
  private readonly dialects: McpDialects;
  private readonly sessions: McpSessions;
  private readonly wire: McpWire;
  private lastId = 0;

  constructor(
    door: ConstructorParameters<typeof McpWire>[0],
    clock: Pick<Clock, 'monotonicMs'>,
    vault: Pick<Vault, 'open'>,
  ) {
    this.wire = new McpWire(door, clock);
    this.dialects = new McpDialects(this.wire);
    this.sessions = new McpSessions(this.wire, clock, vault);
  }

  /**
   * @param owner the agent that the server is talked to for
   * @throws {EgressFailure} {UnreadableAnswer} {RefusedQuestion} {NoCommonRevision} nothing was called
   */
  async reach(line: McpLine, owner: SessionOwner): Promise<McpServer> {
    const dialect: Dialect = await this.dialects.of(line, this.nextId());
    if (dialect === 'modern') return this.modern(line);
    return this.legacy(line, owner, await this.sessions.of(line, owner, () => this.nextId()));
  }

  private modern(line: McpLine): McpServer {
    return {
      protocol: MCP_MODERN,
      ask: async (method, params, { headers = [], meta = {}, mayStillSend } = {}) => {
        const message = this.message(method, { ...params, _meta: { ...modernMeta(), ...meta } });
        const own = [...modernHeaders(method), ...headers];
        return this.asked(line, { message, headers: own, isLegacy: false, ...(mayStillSend && { mayStillSend }) });
      },
    };
  }

  private legacy(line: McpLine, owner: SessionOwner, session: McpSession): McpServer {
    return {
      protocol: session.protocol,
      // What is mirrored in headers is so in the modern revision alone.
      ask: async (method, params, { meta, mayStillSend } = {}) => {
        const message = this.message(method, meta === undefined ? params : { ...params, _meta: meta });
        const headers = sessionHeaders(session);
        const reply = await this.asked(line, {
          message,
          headers,
          isLegacy: true,
          ...(mayStillSend && { mayStillSend }),
        });
        // The next request opens another one. This one may have been sent, and is not sent again.
        if (reply.kind === 'refused' && MISTAKEN.includes(reply.response.status)) this.sessions.forget(line, owner);
        return reply;
      },
    };
  }

  private async asked(line: McpLine, request: RpcRequest): Promise<RpcReply> {
    const reply = await this.wire.ask(line, request);
    if (reply.kind === 'refused' && MISTAKEN.includes(reply.response.status)) this.dialects.forget(line);
    return reply;
  }

  private message(method: string, params: JsonObject): JsonObject {
    return { jsonrpc: '2.0', id: this.nextId(), method, params };
  }

  private nextId(): number {
    this.lastId += 1;
    return this.lastId;
  }
}
