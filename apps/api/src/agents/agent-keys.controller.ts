import { Body, Controller, Delete, Get, Param, Post, Query, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import type { NewKey } from '#libs/domain/agents';
import { CreateAgentKey, RevokeAgentKey, RollAgentKey } from '#libs/domain/agents/handlers';
import type { CommandMetadata, OrgId } from '#libs/domain/kernel';
import { CHANGE, READ } from '../control-plane.js';
import type { Exchange } from '../http/exchange.js';
import type { ListEnvelope } from '../http/list-envelope.js';
import { RequestContext } from '../http/parameters.js';
import { ListQuery } from '../http/query-shape.js';
import { Route } from '../http/route.decorator.js';
import { ListAnswers } from '../lists/list-answers.js';
import { type PageRequest, type TimePosition, timePositionOf } from '../lists/listed.js';
import { AgentAnswers } from './agent-answers.js';
import { CreateKeyBody, RollKeyBody } from './agent.dto.js';
import { apiKeyView } from './agent.view.js';
import { ListAgentKeys } from './list-agent-keys.query-handler.js';

/** An agent's API keys. A secret is in the answer that makes a key, and nowhere after. */
@Controller('v1/agents/:id/keys')
export class AgentKeysController {
  constructor(
    private readonly commands: CommandBus,
    private readonly answers: AgentAnswers,
    private readonly lists: ListAnswers,
  ) {}

  /** Newest first, ended ones included: a key that is used after its end is looked for here. */
  @Get()
  @Route(READ)
  async list(
    @Param('id') id: string,
    @Query() query: ListQuery,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ListEnvelope<JsonObject>> {
    const agent = await this.answers.find(exchange.caller.org, id);
    return this.lists.page(
      { query, exchange, reply },
      (page: PageRequest<TimePosition>) => new ListAgentKeys(agent, page),
      {
        item: (key) => apiKeyView(agent, key),
        position: ({ key, createdAt }) => timePositionOf({ id: key, createdAt }),
      },
    );
  }

  @Post()
  @Route(CHANGE)
  async create(
    @Param('id') id: string,
    @Body() { livemode = false, scopes }: CreateKeyBody,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    const metadata = exchange.commandMetadata();
    const { org, agent } = await this.answers.find(exchange.caller.org, id);
    const wanted = { livemode, ...(scopes === undefined ? {} : { scopes }) };
    return this.issued(
      org,
      id,
      await this.commands.execute(new CreateAgentKey(org, agent, wanted, metadata)),
      metadata,
    );
  }

  /** A successor of the same scopes. The old key works until the overlap ends. */
  @Post(':key/roll')
  @Route(CHANGE)
  async roll(
    @Param('id') id: string,
    @Param('key') keyText: string,
    @Body() { overlap_seconds: overlapSeconds }: RollKeyBody,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    const metadata = exchange.commandMetadata();
    const agent = await this.answers.find(exchange.caller.org, id);
    const { key, livemode } = this.answers.keyOf(agent, keyText);
    const roll = { key, livemode, ...(overlapSeconds === undefined ? {} : { overlapSeconds }) };
    const made = await this.commands.execute(new RollAgentKey(agent.org, agent.agent, roll, metadata));
    return this.issued(agent.org, id, made, metadata);
  }

  @Delete(':key')
  @Route(CHANGE)
  async revoke(
    @Param('id') id: string,
    @Param('key') keyText: string,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    const metadata = exchange.commandMetadata();
    const agent = await this.answers.find(exchange.caller.org, id);
    const { key } = this.answers.keyOf(agent, keyText);
    const change = await this.commands.execute(new RevokeAgentKey(agent.org, agent.agent, key, metadata));
    return this.answers.changedKey(change.agent, key, metadata);
  }

  private async issued(org: OrgId, id: string, made: NewKey, metadata: CommandMetadata): Promise<JsonObject> {
    const agent = await this.answers.find(org, id);
    return { ...(await this.answers.changedKey(agent, made.key, metadata)), secret: made.secret };
  }
}
