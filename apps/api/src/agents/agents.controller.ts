import { Body, Controller, Get, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import type { AgentKey, AgentSettings } from '#libs/domain/agents';
import { ChangeAgent, RegisterAgent } from '#libs/domain/agents/handlers';
import { derivedId } from '#libs/domain/kernel';
import { CHANGE, READ } from '../control-plane.js';
import type { Exchange } from '../http/exchange.js';
import type { ListEnvelope } from '../http/list-envelope.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { filtersIn } from '../lists/filters.js';
import { ListAnswers } from '../lists/list-answers.js';
import { type PageRequest, type TimePosition, timePositionOf } from '../lists/listed.js';
import { AgentAnswers } from './agent-answers.js';
import { AgentOwners } from './agent-owners.js';
import { CreateAgentBody, ListAgentsQuery, UpdateAgentBody } from './agent.dto.js';
import { apiKeyView } from './agent.view.js';
import { ListAgents } from './list-agents.query-handler.js';

@Controller('v1/agents')
export class AgentsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly answers: AgentAnswers,
    private readonly owners: AgentOwners,
    private readonly lists: ListAnswers,
  ) {}

  /** Newest first. */
  @Get()
  @Route(READ)
  async list(
    @Query() query: ListAgentsQuery,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ListEnvelope<JsonObject>> {
    const { org } = exchange.caller;
    const withUsage = query['expand[]']?.includes('usage') ?? false;
    return this.lists.page(
      { query, exchange, reply },
      (page: PageRequest<TimePosition>) => new ListAgents(org, filtersIn('listAgents', query), page, withUsage),
      {
        item: ({ agent, usage }) => ({ ...this.answers.view(agent), ...(usage === null ? {} : { usage }) }),
        position: ({ agent: { agent: id, createdAt } }) => timePositionOf({ id, createdAt }),
      },
    );
  }

  @Get(':id')
  @Route(READ)
  async get(@Param('id') id: string, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    return this.answers.view(await this.answers.find(exchange.caller.org, id));
  }

  /** With its first key where one is asked for: its secret is in this answer, and nowhere after. */
  @Post()
  @Route(CHANGE)
  async create(@Body() body: CreateAgentBody, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    const { name, labels, key: wanted } = body;
    const metadata = exchange.commandMetadata();
    const { org } = exchange.caller;
    const owner = await this.owners.ownerFor(org, body.owner, metadata.actor);
    const described = {
      name,
      owner,
      settings: settingsOf(body),
      ...(labels === undefined ? {} : { labels: labels as Record<string, string> }),
      ...(wanted === undefined ? {} : { key: { ...wanted, livemode: wanted.livemode ?? false } }),
    };
    const made = await this.commands.execute(
      new RegisterAgent(org, described, metadata, derivedId('agt', metadata.commandId)),
    );
    const answer = await this.answers.changedWhole(made.agent, metadata);
    if (made.key === null) return answer;
    const key = apiKeyView(made.agent, made.agent.keys.get(made.key.key) as AgentKey);
    return { ...answer, key, secret: made.key.secret };
  }

  @Patch(':id')
  @Route(CHANGE)
  async update(
    @Param('id') id: string,
    @Body() body: UpdateAgentBody,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    const metadata = exchange.commandMetadata();
    const { org, agent } = await this.answers.find(exchange.caller.org, id);
    const settings = { ...settingsOf(body), ...(body.labels === undefined ? {} : { labels: body.labels }) };
    const change = await this.commands.execute(new ChangeAgent(org, agent, settings as AgentSettings, metadata));
    return this.answers.changedWhole(change.agent, metadata);
  }
}

const settingsOf = ({ intent_mode: intentMode, budgets }: UpdateAgentBody): Omit<AgentSettings, 'labels'> =>
  ({
    ...(intentMode === undefined ? {} : { intentMode }),
    ...(budgets === undefined ? {} : { budgets }),
  }) as Omit<AgentSettings, 'labels'>;
