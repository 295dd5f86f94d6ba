import { Controller, Get, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import type { SecurityEventRow } from '#libs/infra/read-models';
import { CHANGE } from '../control-plane.js';
import type { Exchange } from '../http/exchange.js';
import type { ListEnvelope } from '../http/list-envelope.js';
import { RequestContext } from '../http/parameters.js';
import { ListQuery } from '../http/query-shape.js';
import { Route } from '../http/route.decorator.js';
import { ListAnswers } from '../lists/list-answers.js';
import { type PageRequest, type TimePosition, timePositionOf } from '../lists/listed.js';
import { ListSecurityEvents } from './list-security-events.query-handler.js';

/** Who signed in and out: recorded without a deed (document 2, Admin deeds). For admins and owners. */
@Controller('v1/security-events')
export class SecurityEventsController {
  constructor(private readonly lists: ListAnswers) {}

  @Get()
  @Route(CHANGE)
  async list(
    @Query() query: ListQuery,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ListEnvelope<JsonObject>> {
    return this.lists.page(
      { query, exchange, reply },
      (page: PageRequest<TimePosition>) => new ListSecurityEvents(exchange.caller.org, page),
      { item: viewOf, position: timePositionOf },
    );
  }
}

const viewOf = ({ id, type, user, session, via, why, createdAt }: SecurityEventRow): JsonObject => ({
  object: 'security_event',
  id,
  type,
  user,
  session,
  via,
  why,
  at: createdAt,
});
