import { Injectable } from '@nestjs/common';
import { type Digest, digestOfJson, type JsonObject } from '#libs/crypto';
import { agentDecider, stopCodeOf } from '#libs/domain/agents';
import {
  connectorDecider,
  connectorStreamId,
  isConnectorName,
  isLive,
  isNamedByServer,
  type LiveConnector,
  ToolDefinitions,
  type ToolDescription,
} from '#libs/domain/connectors';
import { GateKernel, PolicyJudge } from '#libs/domain/gate';
import { type AgentId, DomainError, type OrgId, streamRef, Turns } from '#libs/domain/kernel';
import { organizationDecider } from '#libs/domain/people';
import { OrganizationTools } from '../connectors/organization-tools.js';
import { NamesOfAll } from './names-of-all.js';
import { AWAIT_TOOL, definitionIn, definitionOf } from './served-tool.js';

/** Which tools a door has: those of one connector, or of all (null). */
export type Door = string | null;

/** Whoever stands at it. */
export interface DoorCaller {
  readonly org: OrgId;
  readonly agent: AgentId;
}

/** A tool under the name that it has at a door. */
interface NamedTool {
  readonly name: string;
  readonly qualified: string;
  readonly connector: LiveConnector;
  readonly tool: ToolDescription;
}

/** What an agent sees at a door (rule MCP-2). */
export interface VisibleTools {
  readonly tools: readonly NamedTool[];
  /** How long a client may keep the list. */
  readonly ttlMs: number;
}

/** So many are listed at /mcp. */
const ALL_TOOLS_MAX = 500;
/** How many tools are judged before the event loop gets a turn: some milliseconds with the largest policy. */
const TOOLS_A_TURN = 10;
/** Of a look at a server's tools, for which a list waits. */
const LOOK_MS = 10_000;

/** The tools behind the MCP door: which an agent sees, what they are called there, and what is said of them. */
@Injectable()
export class DoorTools {
  private readonly turns = new Turns();

  constructor(
    private readonly gate: GateKernel,
    private readonly policy: PolicyJudge,
    private readonly definitions: ToolDefinitions,
    private readonly tools: OrganizationTools,
  ) {}

  /**
   * Those that the enforced policy does not deny for every call, in the order of their connector, less held ones.
   * @throws {DomainError} invalid_api_key; not_found for a connector that there is not; the code of a Stop
   * @throws {StoreUnavailable}
   */
  async visible(door: Door, { org, agent }: DoorCaller): Promise<VisibleTools> {
    const { agentNow, orgNow } = await this.requireRunning({ org, agent });
    const { name, labels } = agentNow;
    const named = await this.namedAt(door, org);
    const told = await this.policy.visibility(orgNow.enforced, { id: agent, name, labels });
    const tools: NamedTool[] = [];
    for (const [index, tool] of named.entries()) {
      if (index % TOOLS_A_TURN === 0) await this.turns.next();
      if (tool.tool.held === undefined && told(tool.qualified).visibility === 'visible') tools.push(tool);
    }
    return { tools, ttlMs: Math.min(LIST_TTL_MS, ...new Set(named.map((tool) => this.ttlOf(tool)))) };
  }

  /**
   * A Stop ends every list, stream and wait of the door (rule MCP-7); `tools/call` records it.
   * @throws {DomainError} invalid_api_key, or the code of the Stop
   */
  async requireRunning({ org, agent }: DoorCaller) {
    const loaded = await this.gate.streams.loadAll({
      agent: streamRef(agentDecider, agent),
      org: streamRef(organizationDecider, org),
    });
    const [agentNow, orgNow] = [loaded.agent.state, loaded.org.state];
    if (agentNow.status === 'none' || orgNow.status === 'none') throw new DomainError('invalid_api_key');
    const stopped = stopCodeOf(agentNow.status, orgNow.status);
    if (stopped !== null) throw new DomainError(stopped);
    return { agentNow, orgNow };
  }

  /**
   * As `tools/list` tells them. What a server says of its tools is read from its rows; a tool whose row was lost is not told
   * of until the server is asked again, for nobody can say what it takes.
   */
  async described(tools: readonly NamedTool[]): Promise<readonly JsonObject[]> {
    const bodies = await this.bodiesOf(tools);
    return tools.flatMap(({ name, connector, tool }) => {
      if (tool.definition === undefined) return [definitionOf(name, tool)];
      const body = bodies.get(connector.id)?.get(tool.definition);
      return body === undefined ? [] : [definitionIn(name, body)];
    });
  }

  /** The qualified name of what a client calls by a name of the door. The gate judges it, whatever it is. */
  async qualifiedName(door: Door, name: string, { org }: DoorCaller): Promise<string> {
    if (door !== null) return `${door}.${name}`;
    if (!name.includes('__')) return name;
    return new NamesOfAll(await this.tools.of(org)).qualified(name);
  }

  /** @throws {DomainError} not_found for a door of a connector that there is not */
  async requireDoor(door: Door, { org }: Pick<DoorCaller, 'org'>): Promise<void> {
    if (door !== null) await this.connectorAt(door, org);
  }

  private async namedAt(door: Door, org: OrgId): Promise<readonly NamedTool[]> {
    if (door === null) return this.namedOfAll(org);
    const connector = await this.asItsServerHasIt(await this.connectorAt(door, org));
    return this.toolsOf(connector)
      .filter(({ name }) => name !== AWAIT_TOOL)
      .map((tool) => ({ name: tool.name, qualified: `${door}.${tool.name}`, connector, tool }));
  }

  private async connectorAt(name: string, org: OrgId): Promise<LiveConnector> {
    // What no connector can be called is looked for nowhere: a store takes not every text in a name.
    if (isConnectorName(name)) {
      const { state } = await this.gate.streams.load(streamRef(connectorDecider, connectorStreamId(org, name)));
      if (isLive(state)) return state;
    }
    throw new DomainError('not_found', {
      message: `There is no connector ${name}. Use the name of one of your organization's connectors, or /mcp for all of them.`,
    });
  }

  /** Where a server names the tools, and its list is old, it is asked; where it does not answer, the log's list is told. */
  private async asItsServerHasIt(connector: LiveConnector): Promise<LiveConnector> {
    if (!isNamedByServer(connector.type) || connector.status !== 'active') return connector;
    await this.gate.registry.driverOf(connector.type)?.refreshTools({
      connector,
      deadlineMonotonicMs: this.gate.clock.monotonicMs() + LOOK_MS,
      // Nothing is called, and what the agent may see is judged after it.
      mayStillSend: () => Promise.resolve(null),
      isYoungEnough: true,
    });
    return this.connectorAt(connector.name, connector.org);
  }

  private toolsOf(connector: LiveConnector): readonly ToolDescription[] {
    return connector.status === 'active' ? (this.gate.registry.driverOf(connector.type)?.toolsOf(connector) ?? []) : [];
  }

  /** Whom a name could mean is settled before anybody is asked who may see what, so that it means the same for all agents. */
  private async namedOfAll(org: OrgId): Promise<readonly NamedTool[]> {
    const now = await this.tools.of(org);
    const names = new NamesOfAll(now);
    return now
      .connectorNames()
      .flatMap((connector) => now.offeredBy(connector))
      .flatMap(({ connector, name: tool, isDisabled, owned }) => {
        const name = isDisabled ? null : names.nameOf(connector, tool);
        return name === null ? [] : [{ name, qualified: `${connector}.${tool}`, ...owned }];
      })
      .slice(0, ALL_TOOLS_MAX);
  }

  private async bodiesOf(
    tools: readonly NamedTool[],
  ): Promise<ReadonlyMap<LiveConnector['id'], ReadonlyMap<Digest, string>>> {
    const wanted = new Map<LiveConnector['id'], Digest[]>();
    for (const { connector, tool } of tools) {
      if (tool.definition !== undefined) {
        wanted.set(connector.id, [...(wanted.get(connector.id) ?? []), tool.definition]);
      }
    }
    const found = [...wanted].map(async ([id, digests]) => [id, await this.definitions.get(id, digests)] as const);
    return new Map(await Promise.all(found));
  }

  private ttlOf({ connector }: NamedTool): number {
    return this.gate.registry.driverOf(connector.type)?.toolsTtlMs(connector) ?? LIST_TTL_MS;
  }
}

/** How long a client may keep a list at most. */
const LIST_TTL_MS = 30_000;

/** Over what an agent is told of: another one where a name, a definition or the order is another. */
export const digestOfTools = ({ tools }: VisibleTools): Digest =>
  digestOfJson(tools.map(({ name, tool }) => [name, tool.digest]));
