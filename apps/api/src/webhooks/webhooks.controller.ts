import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { JsonObject } from '#libs/crypto';
import type { CommandMetadata } from '#libs/domain/kernel';
import {
  CreateWebhook,
  DeleteWebhook,
  RollWebhookSecret,
  type ShownOnce,
  UpdateWebhook,
  WebhookEndpoints,
} from '#libs/domain/webhooks';
import { CHANGE } from '../control-plane.js';
import { CursorCodec } from '../http/cursor-codec.js';
import type { Exchange } from '../http/exchange.js';
import type { ListEnvelope } from '../http/list-envelope.js';
import { RequestContext } from '../http/parameters.js';
import { ListQuery } from '../http/query-shape.js';
import { Route } from '../http/route.decorator.js';
import { pageOfAll } from '../lists/page-of-all.js';
import { CreateWebhookBody, RollWebhookBody, UpdateWebhookBody } from './webhook.dto.js';
import { WebhookAnswers } from './webhook-answers.js';
import { webhookId } from './webhook-id.js';

/**
 * Webhook endpoints, for admins alone, reads included (rule HOOK-5). A secret is in the answer that makes it, and
 * nowhere after.
 */
@Controller('v1/webhooks')
export class WebhooksController {
  constructor(
    private readonly commands: CommandBus,
    private readonly webhooks: WebhookEndpoints,
    private readonly answers: WebhookAnswers,
    private readonly cursors: CursorCodec,
  ) {}

  /** Newest first. */
  @Get()
  @Route({ ...CHANGE, unknownQuery: 'refused' })
  async list(@Query() query: ListQuery, @RequestContext() exchange: Exchange): Promise<ListEnvelope<JsonObject>> {
    const webhooks = [...(await this.webhooks.list(exchange.caller.org))].reverse();
    return pageOfAll(await this.answers.views(webhooks), query, this.cursors.forList(exchange, query), {
      item: (webhook) => webhook,
      id: ({ id }) => id as string,
    });
  }

  @Get(':id')
  @Route(CHANGE)
  async get(@Param('id') id: string, @RequestContext() { caller }: Exchange): Promise<JsonObject> {
    return this.answers.view(await this.webhooks.get(caller.org, webhookId(id)));
  }

  @Post()
  @Route(CHANGE)
  async create(@Body() body: CreateWebhookBody, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    const metadata = exchange.commandMetadata();
    const described = { ...body, description: body.description ?? null };
    return this.shown(
      await this.commands.execute(new CreateWebhook(exchange.caller.org, described, metadata)),
      metadata,
    );
  }

  @Patch(':id')
  @Route(CHANGE)
  async update(
    @Param('id') id: string,
    @Body() body: UpdateWebhookBody,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    const metadata = exchange.commandMetadata();
    return this.answers.changed(
      await this.commands.execute(new UpdateWebhook(exchange.caller.org, webhookId(id), body, metadata)),
      metadata,
    );
  }

  /** The secrets before it sign, too, until the overlap ends. */
  @Post(':id/roll')
  @HttpCode(200)
  @Route(CHANGE)
  async roll(
    @Param('id') id: string,
    @Body() { overlap_seconds: overlapSeconds }: RollWebhookBody,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    const metadata = exchange.commandMetadata();
    const rolled = await this.commands.execute(
      new RollWebhookSecret(exchange.caller.org, webhookId(id), overlapSeconds, metadata),
    );
    return this.shown(rolled, metadata);
  }

  /** No delivery begins after the answer. */
  @Delete(':id')
  @Route(CHANGE)
  async delete(@Param('id') text: string, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    const metadata = exchange.commandMetadata();
    const { org } = exchange.caller;
    const id = webhookId(text);
    await this.commands.execute(new DeleteWebhook(org, id, metadata));
    return { object: 'webhook', id, deleted: true, deed: await this.answers.deedOf(org, metadata) };
  }

  private async shown({ webhook, secret }: ShownOnce, metadata: CommandMetadata): Promise<JsonObject> {
    return { ...(await this.answers.changed(webhook, metadata)), secret };
  }
}
