import { Controller, Get, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import type { Exchange } from '../http/exchange.js';
import type { ListEnvelope } from '../http/list-envelope.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { filteredQuery, filtersIn } from '../lists/filters.js';
import { ListAnswers } from '../lists/list-answers.js';
import type { PageRequest } from '../lists/listed.js';
import { deedView } from './deed.view.js';
import { type DeedPosition, ListDeeds } from './list-deeds.query-handler.js';

class ListDeedsQuery extends filteredQuery('listDeeds') {}

@Controller()
export class ListDeedsController {
  constructor(private readonly lists: ListAnswers) {}

  /** An agent sees the deeds of its own actions; members and admin keys see the whole ledger. */
  @Get('/v1/deeds')
  @Route({ auth: 'session_or_key', role: 'viewer', scopes: ['deeds:read'], since: '2026-10-01', ledgerList: true })
  async list(
    @Query() query: ListDeedsQuery,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ListEnvelope<JsonObject>> {
    const { caller } = exchange;
    const onlyAgent = caller.kind === 'agent' ? caller.agent : null;
    return this.lists.page(
      { query, exchange, reply },
      (page: PageRequest<DeedPosition>) => new ListDeeds(caller.org, filtersIn('listDeeds', query), page, onlyAgent),
      { item: deedView, position: ({ row: { seq } }) => ({ seq }) },
    );
  }
}
