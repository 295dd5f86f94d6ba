import type { JsonObject } from '#libs/crypto';
import {
  type CallOutcome,
  type ConnectorCall,
  type ConnectorCheck,
  ConnectorDriver,
  type DiscoveredTool,
  type DiscoveredTools,
  isHeldTool,
  failedOutcome,
  type LiveConnector,
  type RequestFacts,
  type ToolDescription,
  type ToolsAnswer,
  type ToolsQuestion,
} from '#libs/domain/connectors';
import { headerValueOf, mcpConfigOf, mcpToolDigest, mirroredValues } from '#libs/domain/connectors/mcp';
import { DomainError, failpoint } from '#libs/domain/kernel';

import type { DriverTools } from '../driver-tools.js';
import { Redactor } from '../redactor.js';
import { mcpChecks } from './mcp-checks.js';
import { withCredential } from './mcp-credential.js';
import { type CallableTool, type McpList, McpLists } from './mcp-lists.js';
import { outcomeOfCallFault, outcomeOfPreparation, outcomeOfReply } from './mcp-outcome.js';
import { type McpServer, McpServers } from './mcp-servers.js';
import type { McpLine } from './mcp-wire.js';

/** What precedes the call itself: finding out how the server speaks, a session, the list of its tools. */
const PREPARATION_MS = 10_000;
/** Names that nobody knows cost a server one question in that time, and no more. */
const LEAST_AGE_MS = 1_000;

/** Descriptions of one discovery under one config. */
interface Described {
  readonly config: JsonObject;
  readonly byName: ReadonlyMap<string, ToolDescription>;
  readonly callable: readonly ToolDescription[];
}

/** Runs the tools of connectors of type `mcp_http` (docs/connectors-mcp-http.md). */
export class McpDriver extends ConnectorDriver {
  override readonly type = 'mcp_http';
  /** What was folded is one object until it changes. */
  private readonly described = new WeakMap<DiscoveredTools, Described>();
  private readonly servers: McpServers;
  private readonly lists: McpLists;

  constructor(private readonly tools: Omit<DriverTools, 'sql'>) {
    super();
    const { door, clock, vault } = tools;
    this.servers = new McpServers(door, clock, vault);
    this.lists = new McpLists(this.servers, clock);
  }

  override toolOf(connector: LiveConnector, toolName: string): ToolDescription | null {
    return this.describedOf(connector)?.byName.get(toolName) ?? null;
  }

  override toolsOf(connector: LiveConnector): readonly ToolDescription[] {
    return this.describedOf(connector)?.callable ?? [];
  }

  override toolsTtlMs({ config }: LiveConnector): number {
    return mcpConfigOf(config).tools_ttl_ms;
  }

  override requestFacts({ discovered }: LiveConnector, toolName: string): RequestFacts {
    const tool = discovered?.tools.find(({ name }) => name === toolName);
    if (discovered === undefined || !tool || tool.observed === null) return {};
    return { mcp: { protocol: discovered.protocol, definition: tool.observed, ...tool.hints } };
  }

  /**
   * Sent once, whatever comes of it. The list that the tool was judged by must still be the server's: the protocol has no
   * way to call a tool only in a certain definition.
   */
  override async send(call: ConnectorCall): Promise<CallOutcome> {
    const arrivedMs = this.tools.clock.monotonicMs();
    const { connector, deadlineMonotonicMs } = call;
    await failpoint('exec.claimed');
    try {
      return await withCredential(this.tools.vault, connector, async (credential) => {
        const mayPrepare = () => call.mayStillSend(true);
        const line: McpLine = { connector, credential, deadlineMonotonicMs, mayPrepare };
        const list = await this.lists.since(line, arrivedMs);
        const tool = await this.unchangedTool(call, list);
        if (tool === null) return failedOutcome('connector_unavailable', CHANGED);
        return this.callOf(call, line, tool, await this.servers.reach(line, call.agent));
      });
    } catch (error) {
      return outcomeOfPreparation(error);
    }
  }

  override async refreshTools(question: ToolsQuestion): Promise<ToolsAnswer> {
    const { connector, deadlineMonotonicMs, mayStillSend: mayPrepare, isYoungEnough } = question;
    const sinceMs = this.tools.clock.monotonicMs();
    const allowedMs = (ttlMs: number): number => (isYoungEnough ? Math.max(ttlMs, LEAST_AGE_MS) : 0);
    try {
      const list = await withCredential(this.tools.vault, connector, (credential) =>
        this.lists.since({ connector, credential, deadlineMonotonicMs, mayPrepare }, sinceMs, allowedMs),
      );
      const isKnown = isYoungEnough && list.listDigest === connector.discovered?.listDigest;
      if (isKnown) return { ok: true, discovered: connector.discovered ?? null, whyUnrecorded: null };
      return await this.recorded(connector, list);
    } catch (error) {
      const { errorCode, errorMessage } = outcomeOfPreparation(error);
      return { ok: false, errorCode: errorCode ?? 'connector_unavailable', errorMessage: errorMessage ?? '' };
    }
  }

  override checks(): readonly ConnectorCheck[] {
    return mcpChecks((question) => this.refreshTools(question));
  }

  private describedOf({ config, discovered }: LiveConnector): Described | null {
    if (discovered === undefined) return null;
    const known = this.described.get(discovered);
    if (known?.config === config) return known;
    const tools = discovered.tools.flatMap((tool) => describe(config, tool) ?? []);
    const described = {
      config,
      byName: new Map(tools.map((tool) => [tool.name, tool])),
      callable: tools.filter(({ held }) => held === undefined),
    };
    this.described.set(discovered, described);
    return described;
  }

  /** Null where the server describes the tool otherwise than the log, and after what it says now is in the log. */
  private async unchangedTool({ connector, toolName }: ConnectorCall, list: McpList): Promise<CallableTool | null> {
    if (list.listDigest !== connector.discovered?.listDigest) await this.recorded(connector, list);
    const tool = list.byName.get(toolName) ?? null;
    const accepted = connector.discovered?.tools.find(({ name }) => name === toolName)?.accepted ?? null;
    return tool !== null && tool.definition === accepted ? tool : null;
  }

  /** What cannot be recorded is not sent, and is recorded at the next look: nothing of it is lost. */
  private async recorded(connector: LiveConnector, list: McpList): Promise<ToolsAnswer> {
    const { tools_pin: rule } = mcpConfigOf(connector.config);
    try {
      const { discovered } = await this.tools.recorder.record(connector, list, { rule, after: list.after });
      return { ok: true, discovered: discovered ?? null, whyUnrecorded: null };
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      const { org, id } = connector;
      const facts = { org_id: org, connector: id, reason: error.code };
      this.tools.logger.warn('the tools of a server could not be recorded', facts);
      return { ok: true, discovered: null, whyUnrecorded: error };
    }
  }

  private async callOf(
    call: ConnectorCall,
    { credential }: McpLine,
    { headers, hasOutputSchema }: CallableTool,
    server: McpServer,
  ): Promise<CallOutcome> {
    const { action, toolName, args } = call;
    const redactor = new Redactor(credential.secrets, []);
    try {
      const reply = await server.ask(
        'tools/call',
        { name: toolName, arguments: args },
        {
          headers: [['Mcp-Name', headerValueOf(toolName)], ...mirroredValues(headers, args)],
          meta: { 'service/action_id': action },
          mayStillSend: () => call.mayStillSend(false),
        },
      );
      await failpoint('exec.answered');
      return await outcomeOfReply(reply, hasOutputSchema, redactor);
    } catch (error) {
      return outcomeOfCallFault(error);
    }
  }
}

const CHANGED =
  'The server describes this tool otherwise than it was judged, and the tool was not called. An admin can look at the change with GET /v1/connectors/{id}/tools.';

/** What its arguments are is a row's to say, and the server's to judge: they are not checked against a stranger's schema. */
const ANY_ARGUMENTS: JsonObject = { type: 'object' };

/** Null for a tool that is gone. */
const describe = (stored: JsonObject, tool: DiscoveredTool): ToolDescription | null => {
  const { name, observed, accepted } = tool;
  if (observed === null) return null;
  const config = mcpConfigOf(stored);
  return {
    name,
    description: null,
    sideEffect: 'unknown',
    isRepeatable: false,
    digest: mcpToolDigest(config, observed),
    timeoutMs: config.timeout_ms + PREPARATION_MS,
    inputSchema: ANY_ARGUMENTS,
    definition: observed,
    ...(isHeldTool(tool) ? { held: { observed, accepted } } : {}),
  };
};
