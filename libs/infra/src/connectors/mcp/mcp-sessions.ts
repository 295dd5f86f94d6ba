import type { JsonObject } from '#libs/crypto';
import type { LiveConnector, Vault } from '#libs/domain/connectors';
import { type AgentId, type Clock, MCP_HANDSHAKES } from '#libs/domain/kernel';
import { EgressFailure } from '#libs/infra/egress';

import { withCredential } from './mcp-credential.js';
import { CLIENT_INFO, NoCommonRevision, RefusedQuestion } from './mcp-dialect.js';
import type { McpLine, McpWire, RpcReply, RpcRequest } from './mcp-wire.js';
import { UnreadableAnswer } from './rpc-message.js';

/** A handshake that a server has answered. */
export interface McpSession {
  readonly protocol: (typeof MCP_HANDSHAKES)[number];
  /** Null for a server that keeps none. */
  readonly id: string | null;
}

/** Of whom it is: sessions of one agent are never another's. Null: lists and tests, which are nobody's. */
export type SessionOwner = AgentId | null;

interface KeptSession extends McpSession {
  readonly connector: LiveConnector;
  usedMs: number;
}

const SESSIONS_MAX = 1_000;
const IDLE_MS = 300_000;
/** A server may have forgotten one that was not used for so long: it is asked before a call relies on it. */
const UNCERTAIN_MS = 15_000;
const SWEEP_MS = 30_000;
const END_TIMEOUT_MS = 5_000;
const SESSION_ID = /^[\x21-\x7e]{1,1024}$/;

/** Sessions with servers of the handshake revisions, of this process. */
export class McpSessions {
  /** In the order of their last use. */
  private readonly kept = new Map<string, KeptSession>();
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly wire: McpWire,
    private readonly clock: Pick<Clock, 'monotonicMs'>,
    private readonly vault: Pick<Vault, 'open'>,
  ) {}

  /**
   * A session that the next request may use.
   * @throws {EgressFailure} {UnreadableAnswer} {RefusedQuestion} {NoCommonRevision}
   */
  async of(line: McpLine, owner: SessionOwner, nextId: () => number): Promise<McpSession> {
    const key = keyOf(line, owner);
    const known = this.kept.get(key);
    if (known !== undefined && (await this.isAlive(line, known, nextId))) return this.use(key, known);
    this.kept.delete(key);
    const opened = { ...(await this.open(line, nextId)), connector: line.connector, usedMs: 0 };
    return this.use(key, opened);
  }

  /** The server does not know it any more. */
  forget(line: McpLine, owner: SessionOwner): void {
    this.kept.delete(keyOf(line, owner));
  }

  /** Ends what was not used for long. Beside everything else: a server that does not hear of it ends its sessions itself. */
  endIdle(): void {
    for (const [key, session] of this.kept) {
      if (this.clock.monotonicMs() - session.usedMs < IDLE_MS && this.kept.size <= SESSIONS_MAX) break;
      this.kept.delete(key);
      void this.end(session).catch(() => undefined);
    }
    if (this.kept.size > 0 || this.timer === null) return;
    clearInterval(this.timer);
    this.timer = null;
  }

  private use(key: string, session: KeptSession): McpSession {
    session.usedMs = this.clock.monotonicMs();
    this.kept.delete(key);
    this.kept.set(key, session);
    this.timer ??= setInterval(() => this.endIdle(), SWEEP_MS).unref();
    if (this.kept.size > SESSIONS_MAX) this.endIdle();
    return session;
  }

  private async isAlive(line: McpLine, session: KeptSession, nextId: () => number): Promise<boolean> {
    const isCertain = session.id === null || this.clock.monotonicMs() - session.usedMs < UNCERTAIN_MS;
    if (isCertain) return true;
    const message = { jsonrpc: '2.0', id: nextId(), method: 'ping' };
    try {
      const reply = await this.wire.ask(line, { message, headers: sessionHeaders(session), isLegacy: true });
      return reply.kind === 'result' || reply.kind === 'error';
    } catch (error) {
      if (error instanceof UnreadableAnswer) return false;
      throw error;
    }
  }

  private async open(line: McpLine, nextId: () => number): Promise<McpSession> {
    const params = { protocolVersion: MCP_HANDSHAKES[0], capabilities: {}, clientInfo: CLIENT_INFO };
    const message: JsonObject = { jsonrpc: '2.0', id: nextId(), method: 'initialize', params };
    const session = sessionIn(await this.wire.ask(line, { message, headers: [], isLegacy: true }));
    const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
    const reply = await this.wire.ask(line, {
      message: initialized,
      headers: sessionHeaders(session),
      isLegacy: true,
    });
    if (reply.kind === 'refused') throw new RefusedQuestion(reply.response.status);
    return session;
  }

  /** The credential of now: the one that the session was opened with is kept nowhere. */
  private async end(session: KeptSession): Promise<void> {
    const { connector, id } = session;
    if (id === null) return;
    const deadlineMonotonicMs = this.clock.monotonicMs() + END_TIMEOUT_MS;
    await withCredential(this.vault, connector, (credential) => {
      const mayPrepare = () => Promise.resolve(null);
      return this.wire.end({ connector, credential, deadlineMonotonicMs, mayPrepare }, sessionHeaders(session));
    });
  }
}

export const sessionHeaders = ({ protocol, id }: McpSession): RpcRequest['headers'] => [
  ['MCP-Protocol-Version', protocol],
  ...(id === null ? [] : [['Mcp-Session-Id', id] as const]),
];

/** A session is of the config and the credential that it was opened with. */
const keyOf = ({ connector }: McpLine, owner: SessionOwner): string =>
  `${connector.id} ${connector.configHash} ${connector.credential?.version ?? ''} ${owner ?? ''}`;

const sessionIn = (reply: RpcReply): McpSession => {
  if (reply.kind === 'refused') throw new RefusedQuestion(reply.response.status);
  if (reply.kind !== 'result') throw new NoCommonRevision();
  const protocol = MCP_HANDSHAKES.find((version) => version === reply.result['protocolVersion']);
  if (protocol === undefined) throw new NoCommonRevision();
  const id = reply.headers.find(([name]) => name === 'mcp-session-id')?.[1] ?? null;
  if (id !== null && !SESSION_ID.test(id)) throw new EgressFailure('broken', true);
  return { protocol, id };
};
