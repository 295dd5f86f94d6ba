import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import type { JsonObject } from '#libs/crypto';
import { agentDecider } from '#libs/domain/agents';
import { parseToolName, PolicyJudge } from '#libs/domain/gate';
import { DomainError, FoldedStreams, streamRef, Turns } from '#libs/domain/kernel';
import { organizationDecider } from '#libs/domain/people';
import { hiddenSince } from '#libs/domain/policies';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { ResolveToolsBody } from './resolve-tools.dto.js';

/** 500 names at their longest, escaped. */
const MAX_BODY_BYTES = 512 * 1024;
/** Some milliseconds under the largest policy. */
const TOOLS_A_TURN = 10;

/** No call can be made by such a name: the gate refuses it before it asks the policy. */
const unknownTool = hiddenSince('tool_unknown');

/** For whoever lists an MCP server's tools to an agent: what the policy denies whatever is asked need not be shown. */
@Controller()
export class ResolveToolsController {
  private readonly turns = new Turns();

  constructor(
    private readonly streams: FoldedStreams,
    private readonly policy: PolicyJudge,
  ) {}

  /** Nothing is recorded, and the answer never replaces a decision. */
  @Post('/v1/tools/resolve')
  @HttpCode(200)
  @Route({ auth: 'agent_key', scopes: ['actions:execute'], since: '2026-10-01', maxBodyBytes: MAX_BODY_BYTES })
  async resolve(@Body() body: ResolveToolsBody, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    const { caller } = exchange;
    if (caller.kind !== 'agent') throw new DomainError('insufficient_scope');
    const loaded = await this.streams.loadAll({
      agent: streamRef(agentDecider, caller.agent),
      org: streamRef(organizationDecider, caller.org),
    });
    const [agent, org] = [loaded.agent.state, loaded.org.state];
    if (agent.status === 'none' || org.status === 'none') throw new DomainError('invalid_api_key');
    const { agent: id, name, labels } = agent;
    const told = await this.policy.visibility(org.enforced, { id, name, labels });
    const data: JsonObject[] = [];
    for (const [index, listed] of body.tools.entries()) {
      if (index % TOOLS_A_TURN === 0) await this.turns.next();
      const tool = `${body.connector}.${listed.name}`;
      const { visibility, ruleId, reason } = parseToolName(tool) ? told(tool) : unknownTool(tool);
      data.push({ object: 'tool_visibility', name: listed.name, tool, visibility, rule_id: ruleId, reason });
    }
    return {
      object: 'list',
      data,
      has_more: false,
      next_cursor: null,
      policy_version: org.enforced?.versionId ?? null,
    };
  }
}
