import type { Digest, JsonObject, JsonValue } from '#libs/crypto';
import type { FetchedTools, LiveConnector } from '#libs/domain/connectors';
import {
  type DefinedTool,
  definedTools,
  LIST_LIMITS,
  listDigestOf,
  type MirroredHeader,
  mcpConfigOf,
  mirroredHeadersOf,
} from '#libs/domain/connectors/mcp';
import { type Clock, RecentlyUsed, Turns } from '#libs/domain/kernel';

import { Redactor } from '../redactor.js';
import { RefusedQuestion } from './mcp-dialect.js';
import type { McpServers } from './mcp-servers.js';
import type { McpLine, RpcReply } from './mcp-wire.js';
import { isObject, UnreadableAnswer } from './rpc-message.js';

/** What a call needs to know of a tool beside its definition's digest. */
export interface CallableTool {
  readonly definition: Digest;
  readonly headers: readonly MirroredHeader[];
  readonly hasOutputSchema: boolean;
}

/** A server's list as it was read. */
export interface McpList extends FetchedTools {
  readonly byName: ReadonlyMap<string, CallableTool>;
  /** When it was asked for: it says nothing of later. */
  readonly askedMs: number;
  /** The list that the log had then. */
  readonly after: Digest | null;
  readonly ttlMs: number;
}

const LIST_TIMEOUT_MS = 10_000;
/** Lists that a process remembers, by the characters of their definitions. */
const KNOWN = { entries: 2_000, weight: 67_108_864 };
/** Entries between two turns of others. */
const PIECE_ENTRIES = 32;

const turns = new Turns();

/** The lists of servers, read by this process when they are needed and too old. */
export class McpLists {
  private readonly known = new RecentlyUsed<{ readonly of: string; readonly list: McpList }>(KNOWN);
  private readonly underWay = new Map<string, Promise<McpList>>();

  constructor(
    private readonly servers: McpServers,
    private readonly clock: Pick<Clock, 'monotonicMs'>,
  ) {}

  /**
   * A list that counts at `sinceMs`: it was asked for after that, or was young enough then. Callers of the same moment
   * share one.
   * @param allowedMs how old it may be then, by its time to live
   * @throws {EgressFailure} {UnreadableAnswer} {RefusedQuestion} {NoCommonRevision}
   */
  async since(line: McpLine, sinceMs: number, allowedMs = (ttlMs: number): number => ttlMs): Promise<McpList> {
    const key = `${line.connector.id} ${versionOf(line.connector)}`;
    const counts = (list: McpList): boolean =>
      list.askedMs + allowedMs(list.ttlMs) >= sinceMs && isOfLog(list, line.connector);
    for (;;) {
      const known = this.known.get(line.connector.id);
      if (known?.of === versionOf(line.connector) && counts(known.list)) return known.list;
      const other = this.underWay.get(key);
      if (other === undefined) return this.read(line, key);
      // What ends another's question is no answer to this one: it is asked again, in its own name.
      const list = await other.catch(() => null);
      if (list !== null && counts(list)) return list;
    }
  }

  private async read(line: McpLine, key: string): Promise<McpList> {
    const askedMs = this.clock.monotonicMs();
    const deadlineMonotonicMs = Math.min(line.deadlineMonotonicMs, askedMs + LIST_TIMEOUT_MS);
    const list = this.fetched({ ...line, deadlineMonotonicMs }, askedMs);
    this.underWay.set(key, list);
    try {
      const read = await list;
      this.known.set(line.connector.id, { of: versionOf(line.connector), list: read }, weightOf(read));
      return read;
    } finally {
      this.underWay.delete(key);
    }
  }

  private async fetched(line: McpLine, askedMs: number): Promise<McpList> {
    const server = await this.servers.reach(line, null);
    let { tools_ttl_ms: ttlMs } = mcpConfigOf(line.connector.config);
    const entries: JsonValue[] = [];
    let cursor: string | null = null;
    let pages = 0;
    do {
      const page = pageIn(await server.ask('tools/list', cursor === null ? {} : { cursor }));
      // One by one: a page may have more entries than a call can have arguments.
      for (const entry of await redacted(page.tools, line.credential.secrets)) entries.push(entry);
      ttlMs = Math.min(ttlMs, page.ttlMs ?? ttlMs);
      cursor = page.nextCursor;
      pages += 1;
    } while (cursor !== null && pages < LIST_LIMITS.pages && entries.length <= LIST_LIMITS.tools);
    const after = line.connector.discovered?.listDigest ?? null;
    return listOf(server.protocol, entries, { hasMore: cursor !== null, askedMs, ttlMs, after });
  }
}

const weightOf = ({ definitions }: McpList): number =>
  definitions.reduce((weight, { body }) => weight + body.length, 1_024);

const versionOf = ({ configHash, credential }: Pick<LiveConnector, 'configHash' | 'credential'>): string =>
  `${configHash} ${credential?.version ?? ''}`;

/**
 * Whether a list is the log's, or was asked for when the log had what it has. Where another process has recorded another one
 * since, this one may be the older: it is asked for again, and the two never replace each other without end.
 */
const isOfLog = ({ listDigest, after }: McpList, { discovered }: LiveConnector): boolean => {
  const logged = discovered?.listDigest ?? null;
  return listDigest === logged || after === logged;
};

interface Page {
  readonly tools: readonly JsonValue[];
  readonly nextCursor: string | null;
  readonly ttlMs: number | null;
}

const pageIn = (reply: RpcReply): Page => {
  if (reply.kind === 'refused') throw new RefusedQuestion(reply.response.status);
  if (reply.kind !== 'result') throw new UnreadableAnswer('the server lists no tools');
  const { tools, nextCursor, ttlMs, resultType } = reply.result;
  if (!Array.isArray(tools) || (resultType !== undefined && resultType !== 'complete')) {
    throw new UnreadableAnswer('the server lists no tools');
  }
  const isTtl = typeof ttlMs === 'number' && ttlMs >= 0;
  return {
    tools,
    nextCursor: typeof nextCursor === 'string' && nextCursor !== '' ? nextCursor : null,
    ttlMs: isTtl ? ttlMs : null,
  };
};

/** A server may say its credential back, in a description or anywhere else. */
const redacted = async (entries: readonly JsonValue[], secrets: readonly string[]): Promise<readonly JsonValue[]> => {
  const redactor = new Redactor(secrets, []);
  const clean: JsonValue[] = [];
  // What is beyond the bounds is not looked at.
  for (const [index, entry] of entries.slice(0, LIST_LIMITS.tools + 1).entries()) {
    if (index % PIECE_ENTRIES === PIECE_ENTRIES - 1) await turns.next();
    clean.push(redactor.json(entry));
  }
  return [...clean, ...Array.from({ length: entries.length - clean.length }, () => null)];
};

const listOf = (
  protocol: string,
  entries: readonly JsonValue[],
  { hasMore, ...asked }: Pick<McpList, 'askedMs' | 'ttlMs' | 'after'> & { readonly hasMore: boolean },
): McpList => {
  const { tools, leftOut } = definedTools(entries);
  return {
    protocol,
    listDigest: listDigestOf(protocol, tools),
    tools,
    // How many there are on pages that were not asked for, nobody knows: at least one.
    leftOut: hasMore ? withOneMore(leftOut) : leftOut,
    definitions: tools.map(({ definition: digest, body }) => ({ digest, body })),
    byName: new Map(tools.map((tool) => [tool.name, callable(tool)])),
    ...asked,
  };
};

const withOneMore = (leftOut: McpList['leftOut']): McpList['leftOut'] => {
  const before = leftOut.find(({ why }) => why === 'too_many')?.count ?? 0;
  return [...leftOut.filter(({ why }) => why !== 'too_many'), { why: 'too_many', count: before + 1 }];
};

const callable = ({ definition, body }: DefinedTool): CallableTool => {
  const { inputSchema, outputSchema } = JSON.parse(body) as JsonObject;
  const headers = isObject(inputSchema) ? (mirroredHeadersOf(inputSchema) ?? []) : [];
  return { definition, headers, hasOutputSchema: outputSchema !== undefined };
};
