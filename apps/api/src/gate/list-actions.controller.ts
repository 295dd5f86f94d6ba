import { Controller, Get, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import { Clock } from '#libs/domain/kernel';
import type { ActionRow } from '#libs/infra/read-models';
import type { Exchange } from '../http/exchange.js';
import type { ListEnvelope } from '../http/list-envelope.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { Site } from '../http/site.js';
import { filteredQuery, filtersIn } from '../lists/filters.js';
import { ListAnswers } from '../lists/list-answers.js';
import { type PageRequest, type TimePosition, timePositionOf } from '../lists/listed.js';
import { actionView } from './action.view.js';
import { ListActions } from './list-actions.query-handler.js';

class ListActionsQuery extends filteredQuery('listActions') {}

@Controller()
export class ListActionsController {
  constructor(
    private readonly lists: ListAnswers,
    private readonly site: Site,
    private readonly clock: Clock,
  ) {}

  /** An agent sees its own actions. Members of the organization see all of them. */
  @Get('/v1/actions')
  @Route({ auth: 'session_or_key', role: 'viewer', scopes: ['actions:read'], since: '2026-10-01', ledgerList: true })
  async list(
    @Query() query: ListActionsQuery,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ListEnvelope<JsonObject>> {
    const { caller } = exchange;
    const viewpoint = { baseUrl: this.site.baseUrl, clock: this.clock };
    const onlyAgent = caller.kind === 'agent' ? caller.agent : null;
    return this.lists.page(
      { query, exchange, reply },
      (page: PageRequest<TimePosition>) =>
        new ListActions(caller.org, filtersIn('listActions', query), page, onlyAgent),
      {
        item: ({ folded, deed }: ActionRow) => actionView({ action: folded, deed }, viewpoint),
        position: timePositionOf,
      },
    );
  }
}
