import { Body, Controller, Delete, Get, Param, Post, Query, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import type { IntentKey } from '#libs/domain/agents';
import { AddIntentKey, RemoveIntentKey } from '#libs/domain/agents/handlers';
import { CHANGE, READ } from '../control-plane.js';
import type { Exchange } from '../http/exchange.js';
import type { ListEnvelope } from '../http/list-envelope.js';
import { RequestContext } from '../http/parameters.js';
import { ListQuery } from '../http/query-shape.js';
import { Route } from '../http/route.decorator.js';
import { ListAnswers } from '../lists/list-answers.js';
import { type PageRequest, type TimePosition, timePositionOf } from '../lists/listed.js';
import { AgentAnswers } from './agent-answers.js';
import { AddIntentKeyBody } from './agent.dto.js';
import { intentKeyView } from './agent.view.js';
import { ListIntentKeys } from './list-agent-keys.query-handler.js';

/** The public keys that an agent's runtime signs its calls with: two at most, so that one can replace the other. */
@Controller('v1/agents/:id/intent-keys')
export class IntentKeysController {
  constructor(
    private readonly commands: CommandBus,
    private readonly answers: AgentAnswers,
    private readonly lists: ListAnswers,
  ) {}

  /** Newest first. */
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
      (page: PageRequest<TimePosition>) => new ListIntentKeys(agent, page),
      {
        item: ({ key, deed }) => intentKeyView(agent, key, deed),
        position: ({ key }) => timePositionOf({ id: key.kid, createdAt: key.createdAt }),
      },
    );
  }

  @Post()
  @Route(CHANGE)
  async add(
    @Param('id') id: string,
    @Body() { public_key: publicKey }: AddIntentKeyBody,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    const metadata = exchange.commandMetadata();
    const { org, agent } = await this.answers.find(exchange.caller.org, id);
    const change = await this.commands.execute(new AddIntentKey(org, agent, publicKey, metadata));
    const key = change.agent.intentKeys.find(({ kid }) => kid === change.kid) as IntentKey;
    return intentKeyView(change.agent, key, await this.answers.deedOf(change.agent, metadata));
  }

  /** What it has signed is refused from the next call on. */
  @Delete(':kid')
  @Route(CHANGE)
  async remove(
    @Param('id') id: string,
    @Param('kid') kid: string,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    const metadata = exchange.commandMetadata();
    const { org, agent } = await this.answers.find(exchange.caller.org, id);
    const change = await this.commands.execute(new RemoveIntentKey(org, agent, kid, metadata));
    const deed = await this.answers.deedOf(change.agent, metadata);
    return { object: 'intent_key', kid, agent, deleted: true, deed };
  }
}
