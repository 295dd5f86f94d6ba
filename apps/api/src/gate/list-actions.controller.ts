import { Controller, Get, Query, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import type { ActionRow } from '#libs/infra/read-models';
import { CursorCodec } from '../http/cursor-codec.js';
import type { Exchange } from '../http/exchange.js';
import { type ListEnvelope, pageOf } from '../http/list-envelope.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { timePositionOf, type TimePosition } from '../lists/listed.js';
import { tellLag } from '../lists/projection-lag.js';
import { actionView } from './action.view.js';
import { ListActionsQuery } from './list-actions.dto.js';
import { parseActionFilters } from './list-actions.filters.js';
import { ListActions } from './list-actions.query-handler.js';

const itemOf = ({ folded, deed }: ActionRow): JsonObject => actionView({ action: folded, deed });

@Controller()
export class ListActionsController {
  constructor(
    private readonly queries: QueryBus,
    private readonly cursors: CursorCodec,
  ) {}

  /** An agent sees its own actions; whoever administers the organization sees all of them. */
  @Get('/v1/actions')
  @Route({ auth: 'session_or_key', scopes: ['actions:read'], since: '2026-10-01', ledgerList: true })
  async list(
    @Query() query: ListActionsQuery,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ListEnvelope<JsonObject>> {
    const { caller } = exchange;
    const cursors = this.cursors.forList(exchange, query);
    const page = { limit: query.limit, after: cursors.after as TimePosition | null };
    const onlyAgent = caller.kind === 'agent' ? caller.agent : null;
    const listed = await this.queries.execute(new ListActions(caller.org, parseActionFilters(query), page, onlyAgent));
    tellLag(reply, listed);
    return pageOf(listed, cursors, { item: itemOf, position: timePositionOf });
  }
}
