import { Controller, Get, Query, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { IsIn } from 'class-validator';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import { Clock, type OrgId, RecentlyUsed } from '#libs/domain/kernel';
import { READ } from '../control-plane.js';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { IfPresent } from '../http/shape.js';
import { tellLag } from '../lists/projection-lag.js';
import { OVERVIEW_WINDOWS, type OverviewWindow } from './overview-window.js';
import { type ReadAnswer, ReadOverview } from './overview.query-handler.js';

class OverviewQuery {
  @IfPresent()
  @IsIn(OVERVIEW_WINDOWS, { message: `must be one of ${OVERVIEW_WINDOWS.join(', ')}` })
  window?: OverviewWindow;
}

/** How long an answer is given again, by organization and window (rule INSIGHT-2). */
const CACHED_MS = 10_000;
const CACHED_ANSWERS = { entries: 2_000, weight: 2_000 };

/** The first screen: what happened, and what needs somebody. */
@Controller()
export class OverviewController {
  private readonly answers = new RecentlyUsed<{ readonly untilMs: number; readonly reading: Promise<ReadAnswer> }>(
    CACHED_ANSWERS,
  );

  constructor(
    private readonly queries: QueryBus,
    private readonly clock: Clock,
  ) {}

  @Get('/v1/overview')
  @Route({ ...READ, unknownQuery: 'refused' })
  async get(
    @Query() { window }: OverviewQuery,
    @RequestContext() { caller }: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonObject> {
    const read = await this.read(caller.org, window ?? '24h');
    tellLag(reply, read);
    return read.answer;
  }

  /** Whoever asks while it is being read gets the same. What failed is not kept. */
  private read(org: OrgId, window: OverviewWindow): Promise<ReadAnswer> {
    const name = `${org} ${window}`;
    const known = this.answers.get(name);
    if (known && known.untilMs > this.clock.monotonicMs()) return known.reading;
    const reading = this.queries.execute(new ReadOverview(org, window));
    this.answers.set(name, { untilMs: this.clock.monotonicMs() + CACHED_MS, reading }, 1);
    reading.catch(() => this.answers.delete(name));
    return reading;
  }
}
