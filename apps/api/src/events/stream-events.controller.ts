import { Controller, Get, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { FilterText } from '../lists/filter-text.decorator.js';
import { cursorOf } from './event-cursor.js';
import { parseEventFilter } from './event-filter.js';
import { EventStreams } from './event-streams.js';

/** Query parameters of GET /v1/events. What they may hold: `event-filter.ts` and `event-cursor.ts`. */
class StreamEventsQuery {
  @FilterText() types?: string;
  @FilterText() agent?: string;
  @FilterText() last_event_id?: string;
}

@Controller()
export class StreamEventsController {
  constructor(private readonly streams: EventStreams) {}

  /** What is recorded in the organization from now on, in its order. All that can be refused is refused before the first byte. */
  @Get('/v1/events')
  @Route({
    auth: 'session_or_key',
    role: 'viewer',
    scopes: ['actions:read'],
    since: '2026-10-01',
    unknownQuery: 'refused',
  })
  async stream(
    @Query() query: StreamEventsQuery,
    @RequestContext() exchange: Exchange,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const filter = parseEventFilter(query, exchange.caller);
    const cursor = cursorOf(exchange, query.last_event_id);
    await this.streams.begin(exchange, reply, { filter, cursor });
  }
}
