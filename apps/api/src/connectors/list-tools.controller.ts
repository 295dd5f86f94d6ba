import { Controller, Get, Query, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import { CursorCodec } from '../http/cursor-codec.js';
import type { Exchange } from '../http/exchange.js';
import { type ListEnvelope, pageOf } from '../http/list-envelope.js';
import { RequestContext } from '../http/parameters.js';
import { ListQuery } from '../http/query-shape.js';
import { Route } from '../http/route.decorator.js';
import { tellLag } from '../lists/projection-lag.js';
import { toolView } from './connector.view.js';
import { ListTools, type ToolPosition } from './list-tools.query-handler.js';

@Controller()
export class ListToolsController {
  constructor(
    private readonly queries: QueryBus,
    private readonly cursors: CursorCodec,
  ) {}

  /** Every tool that actions of the organization can name, by the name they call it by. */
  @Get('/v1/tools')
  @Route({ auth: 'session_or_key', admin: true, since: '2026-10-01' })
  async list(
    @Query() query: ListQuery,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ListEnvelope<JsonObject>> {
    const cursors = this.cursors.forList(exchange, query);
    const page = { limit: query.limit, after: cursors.after as ToolPosition | null };
    const listed = await this.queries.execute(new ListTools(exchange.caller.org, page));
    tellLag(reply, listed);
    return pageOf(listed, cursors, {
      item: ({ connector, tool }) => toolView(connector, tool),
      position: ({ position: { connector, index } }) => ({ connector, index }),
    });
  }
}
