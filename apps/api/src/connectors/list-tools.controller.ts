import { Controller, Get, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import { READ } from '../control-plane.js';
import type { Exchange } from '../http/exchange.js';
import type { ListEnvelope } from '../http/list-envelope.js';
import { RequestContext } from '../http/parameters.js';
import { ListQuery } from '../http/query-shape.js';
import { Route } from '../http/route.decorator.js';
import { ListAnswers } from '../lists/list-answers.js';
import type { PageRequest } from '../lists/listed.js';
import { toolView } from './connector.view.js';
import { ListTools, type ToolPosition } from './list-tools.query-handler.js';

const AGENTS_INSTEAD = 'An agent finds its tools with POST /v1/tools/resolve and the body {}.';

@Controller()
export class ListToolsController {
  constructor(private readonly lists: ListAnswers) {}

  /** Every tool that actions of the organization can name, by the name they call it by. */
  @Get('/v1/tools')
  @Route({ ...READ, agentsInstead: AGENTS_INSTEAD })
  async list(
    @Query() query: ListQuery,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ListEnvelope<JsonObject>> {
    return this.lists.page(
      { query, exchange, reply },
      (page: PageRequest<ToolPosition>) => new ListTools(exchange.caller.org, page),
      {
        item: ({ connector, tool }) => toolView(connector, tool),
        position: ({ position }) => position,
      },
    );
  }
}
