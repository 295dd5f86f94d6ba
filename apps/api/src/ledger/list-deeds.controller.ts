import { Controller, Get, Query, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import { CursorCodec } from '../http/cursor-codec.js';
import type { Exchange } from '../http/exchange.js';
import { type ListEnvelope, pageOf } from '../http/list-envelope.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { tellLag } from '../lists/projection-lag.js';
import { deedView } from './deed.view.js';
import { ListDeedsQuery } from './list-deeds.dto.js';
import { parseDeedFilters } from './list-deeds.filters.js';
import { type DeedPosition, ListDeeds } from './list-deeds.query-handler.js';

@Controller()
export class ListDeedsController {
  constructor(
    private readonly queries: QueryBus,
    private readonly cursors: CursorCodec,
  ) {}

  /** An agent sees the deeds of its own actions; whoever administers the organization sees the whole ledger. */
  @Get('/v1/deeds')
  @Route({ auth: 'session_or_key', scopes: ['deeds:read'], since: '2026-10-01', ledgerList: true })
  async list(
    @Query() query: ListDeedsQuery,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ListEnvelope<JsonObject>> {
    const { caller } = exchange;
    const cursors = this.cursors.forList(exchange, query);
    const page = { limit: query.limit, after: cursors.after as DeedPosition | null };
    const onlyAgent = caller.kind === 'agent' ? caller.agent : null;
    const listed = await this.queries.execute(new ListDeeds(caller.org, parseDeedFilters(query), page, onlyAgent));
    tellLag(reply, listed);
    return pageOf(listed, cursors, { item: deedView, position: ({ seq }) => ({ seq }) });
  }
}
