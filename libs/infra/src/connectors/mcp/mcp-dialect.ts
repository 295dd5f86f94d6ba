import type { JsonObject, JsonValue } from '#libs/crypto';
import { MCP_HANDSHAKES, MCP_META, MCP_MODERN, RecentlyUsed, RPC_CODE } from '#libs/domain/kernel';

import { isObject, UnreadableAnswer } from './rpc-message.js';
import type { McpLine, McpWire, RpcReply, RpcRequest } from './mcp-wire.js';

export type Dialect = 'modern' | 'legacy';

/** The server cannot be talked to: it does not say what a server of MCP says, or serves no revision that we speak. */
export class NoCommonRevision extends Error {
  override readonly name = 'NoCommonRevision';
}

/** A server answered what concludes nothing: it may be of either dialect. */
export class RefusedQuestion extends Error {
  override readonly name = 'RefusedQuestion';

  constructor(readonly status: number) {
    super(`the server answered ${status}`);
  }
}

export const CLIENT_INFO: JsonObject = { name: 'agent-governance-service', version: '1' };

/** The members of `_meta` that every request of the modern revision has. */
export const modernMeta = (): JsonObject => ({
  [`${MCP_META}/protocolVersion`]: MCP_MODERN,
  [`${MCP_META}/clientInfo`]: CLIENT_INFO,
  [`${MCP_META}/clientCapabilities`]: {},
});

export const modernHeaders = (method: string): RpcRequest['headers'] => [
  ['MCP-Protocol-Version', MCP_MODERN],
  ['Mcp-Method', method],
];

/** Which dialect each server speaks, asked once a process and config. */
export class McpDialects {
  private readonly known = new RecentlyUsed<Dialect>({ entries: 2_000, weight: 2_000 });

  constructor(private readonly wire: McpWire) {}

  /**
   * @throws {EgressFailure} {RefusedQuestion} nothing is known by that
   * @throws {NoCommonRevision}
   */
  async of(line: McpLine, id: number): Promise<Dialect> {
    const key = keyOf(line);
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const method = 'server/discover';
    const message = { jsonrpc: '2.0', id, method, params: { _meta: modernMeta() } };
    const asked = this.wire.ask(line, { message, headers: modernHeaders(method), isLegacy: false });
    const dialect = await asked.then(dialectBy, (error: unknown) => {
      if (error instanceof UnreadableAnswer) return 'legacy' as const;
      throw error;
    });
    this.known.set(key, dialect, 1);
    return dialect;
  }

  /** The server answered what one of the known dialect would not. */
  forget(line: McpLine): void {
    this.known.delete(keyOf(line));
  }
}

const keyOf = ({ connector }: McpLine): string => `${connector.id} ${connector.configHash}`;

const dialectBy = (reply: RpcReply): Dialect => {
  switch (reply.kind) {
    case 'result':
      return Array.isArray(reply.result['supportedVersions'])
        ? byVersions(reply.result['supportedVersions'])
        : 'legacy';
    case 'error':
      return byError(reply.error);
    case 'refused': {
      const { status } = reply.response;
      if (reply.error !== null && isModern(reply.error.code)) return byError(reply.error);
      if (status === 401 || status === 403 || status === 429 || status >= 500) throw new RefusedQuestion(status);
      return 'legacy';
    }
    case 'accepted':
      return 'legacy';
  }
};

const isModern = (code: number): boolean => code >= RPC_CODE.unsupportedVersion && code <= RPC_CODE.headerMismatch;

const byError = ({ code, data }: { readonly code: number; readonly data: JsonValue | undefined }): Dialect => {
  if (!isModern(code)) return 'legacy';
  const supported = code === RPC_CODE.unsupportedVersion && isObject(data) ? data['supported'] : undefined;
  return Array.isArray(supported) ? byVersions(supported) : 'modern';
};

const byVersions = (versions: readonly JsonValue[]): Dialect => {
  if (versions.includes(MCP_MODERN)) return 'modern';
  if (MCP_HANDSHAKES.some((version) => versions.includes(version))) return 'legacy';
  throw new NoCommonRevision();
};
