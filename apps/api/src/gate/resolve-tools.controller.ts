import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import { agentDecider } from '#libs/domain/agents';
import { connectorDecider, connectorStreamId, isConnectorName, isHeldTool, isLive } from '#libs/domain/connectors';
import { parseToolName, PolicyJudge } from '#libs/domain/gate';
import { DomainError, FoldedStreams, type OrgId, streamRef, Turns } from '#libs/domain/kernel';
import { organizationDecider } from '#libs/domain/people';
import { hiddenSince, type ToolVisibility } from '#libs/domain/policies';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { OfferedTools } from './offered-tools.js';
import { ResolveToolsBody } from './resolve-tools.dto.js';

/** Room for 500 names of the greatest length, with escapes. */
const MAX_BODY_BYTES = 512 * 1024;
/** How many tools are judged before the event loop gets a turn: some milliseconds with the largest policy. */
const TOOLS_A_TURN = 10;

/** The answer for a malformed name: the gate refuses a call with such a name before it asks the policy. */
const unknownTool = hiddenSince('tool_unknown');
const ofDisabledConnector = hiddenSince('connector disabled');
/** The gate refuses a call of it, whatever the policy says. */
const changedTool = hiddenSince('tool_changed');

/** A tool to be judged, either named by the caller or listed by its connector. */
interface AskedTool {
  readonly connector: string;
  readonly name: string;
  /** Shown if the tool is visible. Set if the connector listed the tool. */
  readonly described?: { readonly description: string | null; readonly input_schema: JsonObject };
  readonly isDisabled?: boolean;
  /** Its server describes it otherwise than was accepted. A connector lists no such tool. */
  readonly isHeld?: boolean;
}

/**
 * Tells which tools an agent may see: to the agent itself, or to a proxy that lists an MCP server's tools to the agent.
 */
@Controller()
export class ResolveToolsController {
  private readonly turns = new Turns();

  constructor(
    private readonly streams: FoldedStreams,
    private readonly policy: PolicyJudge,
    private readonly offered: OfferedTools,
  ) {}

  /** Judges the visibility of tools. Nothing is recorded, and a call of a visible tool may still be denied. */
  @Post('/v1/tools/resolve')
  @HttpCode(200)
  @Route({ auth: 'agent_key', scopes: ['actions:execute'], since: '2026-10-01', maxBodyBytes: MAX_BODY_BYTES })
  async resolve(
    @Body() body: ResolveToolsBody,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonObject> {
    const { caller } = exchange;
    if (caller.kind !== 'agent') throw new DomainError('insufficient_scope');
    const named = await this.withHeld(namedIn(body), body.connector, caller.org);
    const { tools, next }: { readonly tools: readonly AskedTool[]; readonly next: string | null } =
      named === null ? await this.offered.page(body, exchange, reply) : { tools: named, next: null };
    const { told, version } = await this.visibility(caller);
    const data: JsonObject[] = [];
    for (const [index, tool] of tools.entries()) {
      if (index % TOOLS_A_TURN === 0) await this.turns.next();
      data.push(visibilityView(tool, told));
    }
    return { object: 'list', data, has_more: next !== null, next_cursor: next, policy_version: version };
  }

  /** By the log: no server is asked. A name that no connector of the organization has is a proxy's own. */
  private async withHeld(
    named: readonly AskedTool[] | null,
    connector: string | undefined,
    org: OrgId,
  ): Promise<readonly AskedTool[] | null> {
    if (named === null || connector === undefined || !isConnectorName(connector)) return named;
    const { state } = await this.streams.load(streamRef(connectorDecider, connectorStreamId(org, connector)));
    const tools = isLive(state) ? (state.discovered?.tools ?? []) : [];
    const held = new Set(tools.filter(isHeldTool).map(({ name }) => name));
    return held.size === 0 ? named : named.map((tool) => ({ ...tool, isHeld: held.has(tool.name) }));
  }

  private async visibility(caller: Extract<Exchange['caller'], { kind: 'agent' }>): Promise<{
    readonly told: (tool: string) => ToolVisibility;
    readonly version: string | null;
  }> {
    const loaded = await this.streams.loadAll({
      agent: streamRef(agentDecider, caller.agent),
      org: streamRef(organizationDecider, caller.org),
    });
    const [agent, org] = [loaded.agent.state, loaded.org.state];
    if (agent.status === 'none' || org.status === 'none') throw new DomainError('invalid_api_key');
    const { agent: id, name, labels } = agent;
    const told = await this.policy.visibility(org.enforced, { id, name, labels });
    return { told, version: org.enforced?.versionId ?? null };
  }
}

/** The tools that the request names; null if it names none, so that the connectors' tools are listed. */
const namedIn = ({ connector, tools, cursor }: ResolveToolsBody): readonly AskedTool[] | null => {
  if (tools === undefined) return null;
  if (connector === undefined) {
    const message = 'connector must be there with tools: the names of tools are those of one connector.';
    throw new DomainError('validation_failed', { param: 'connector', message });
  }
  if (cursor !== undefined) {
    const message = 'cursor is for a list without tools. Leave out tools to go on with that list, or leave out cursor.';
    throw new DomainError('validation_failed', { param: 'cursor', message });
  }
  return tools.map(({ name }) => ({ connector, name }));
};

/** What hides the tool without the policy being asked; null if nothing does. */
const judgedByItself = ({ connector, name, isDisabled, isHeld }: AskedTool): typeof unknownTool | null => {
  if (isDisabled === true) return ofDisabledConnector;
  if (isHeld === true) return changedTool;
  return parseToolName(`${connector}.${name}`) ? null : unknownTool;
};

const visibilityView = (asked: AskedTool, told: (tool: string) => ToolVisibility): JsonObject => {
  const { connector, name, described } = asked;
  const tool = `${connector}.${name}`;
  const { visibility, ruleId, reason } = (judgedByItself(asked) ?? told)(tool);
  const shown = visibility === 'visible' ? described : described && { description: null, input_schema: null };
  return { object: 'tool_visibility', name, tool, visibility, rule_id: ruleId, reason, ...shown };
};
