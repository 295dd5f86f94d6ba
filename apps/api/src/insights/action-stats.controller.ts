import { Controller, Get, Query, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { IsIn } from 'class-validator';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import type { CountedBy } from '#libs/infra/read-models';
import { READ } from '../control-plane.js';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { IfPresent } from '../http/shape.js';
import { tellLag } from '../lists/projection-lag.js';
import { DECISION_STATS, STATS_BY, type StatsBy, type StatsKind, VERDICT_STATS } from './action-stats.js';
import { ReadActionStats } from './action-stats.query-handler.js';
import { STATS_WINDOWS, type StatsWindow } from './stats-window.js';

const BREAKDOWNS = Object.keys(STATS_BY) as readonly StatsBy[];

class StatsQuery {
  @IfPresent()
  @IsIn(STATS_WINDOWS, { message: `must be one of ${STATS_WINDOWS.join(', ')}` })
  window?: StatsWindow;

  @IfPresent()
  @IsIn(BREAKDOWNS, { message: `must be one of ${BREAKDOWNS.join(', ')}` })
  by?: StatsBy;
}

/** What the gate decided and what the witness found, over days. */
@Controller('v1/insights')
export class ActionStatsController {
  constructor(private readonly queries: QueryBus) {}

  @Get('decisions')
  @Route({ ...READ, unknownQuery: 'refused' })
  decisions(
    @Query() query: StatsQuery,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonObject> {
    return this.stats(DECISION_STATS, query, exchange, reply);
  }

  @Get('verdicts')
  @Route({ ...READ, unknownQuery: 'refused' })
  verdicts(
    @Query() query: StatsQuery,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonObject> {
    return this.stats(VERDICT_STATS, query, exchange, reply);
  }

  private async stats<By extends CountedBy>(
    kind: StatsKind<By>,
    { window = '7d', by = 'day' }: StatsQuery,
    { caller }: Exchange,
    reply: FastifyReply,
  ): Promise<JsonObject> {
    const read = await this.queries.execute(new ReadActionStats(caller.org, kind, { window, by }));
    tellLag(reply, read);
    return read.answer;
  }
}
