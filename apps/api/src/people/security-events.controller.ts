import { Controller, Get, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import { type SecurityEventRow } from '#libs/infra/read-models';
import { CHANGE } from '../control-plane.js';
import type { Exchange } from '../http/exchange.js';
import type { ListEnvelope } from '../http/list-envelope.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { filteredQuery, filtersIn } from '../lists/filters.js';
import { ListAnswers } from '../lists/list-answers.js';
import { type PageRequest, type TimePosition, timePositionOf } from '../lists/listed.js';
import { ListSecurityEvents } from './list-security-events.query-handler.js';

class ListSecurityEventsQuery extends filteredQuery('listSecurityEvents') {}

/**
 * Who signed in and out, whose sign-in failed, which keys and addresses changed, what was exported. Sign-ins and
 * sign-outs are recorded without a deed (rule DEED-13). For admins and owners.
 */
@Controller('v1/security-events')
export class SecurityEventsController {
  constructor(private readonly lists: ListAnswers) {}

  @Get()
  @Route(CHANGE)
  async list(
    @Query() query: ListSecurityEventsQuery,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ListEnvelope<JsonObject>> {
    const filters = filtersIn('listSecurityEvents', query);
    return this.lists.page(
      { query, exchange, reply },
      (page: PageRequest<TimePosition>) => new ListSecurityEvents(exchange.caller.org, filters, page),
      { item: viewOf, position: timePositionOf },
    );
  }
}

const viewOf = ({
  id,
  type,
  by,
  user,
  session,
  via,
  why,
  key,
  export: range,
  createdAt,
}: SecurityEventRow): JsonObject => ({
  object: 'security_event',
  id,
  type,
  by: by && { ...by },
  user,
  session,
  via,
  why,
  key: key && { ...key },
  export: range && { ...range },
  at: createdAt,
});
