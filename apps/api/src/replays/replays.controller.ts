import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import type { JsonObject } from '#libs/crypto';
import { Clock, DomainError, parseId, timestampOf, type ReplayId } from '#libs/domain/kernel';
import { Replays, shownReplay } from '#libs/domain/replays';
import { ProjectionWaiter } from '#libs/infra/read-models';
import { CHANGE, READ } from '../control-plane.js';
import { CursorCodec } from '../http/cursor-codec.js';
import type { Exchange } from '../http/exchange.js';
import { type ListEnvelope, pageOf } from '../http/list-envelope.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { filteredQuery, filtersIn } from '../lists/filters.js';
import { type TimePosition, timePositionOf } from '../lists/listed.js';
import { policyId } from '../policies/policy-reader.js';
import { StartReplayBody, windowOf } from './replay.dto.js';

class ListReplaysQuery extends filteredQuery('listReplays') {}

/** What a version of a policy would have said of the actions of the past. */
@Controller()
export class ReplaysController {
  constructor(
    private readonly replays: Replays,
    private readonly waiter: ProjectionWaiter,
    private readonly cursors: CursorCodec,
    private readonly clock: Clock,
  ) {}

  /** Runs in a worker; the answer does not wait for it. */
  @Post('/v1/policies/:id/versions/:v/replay')
  @HttpCode(202)
  @Route(CHANGE)
  async start(
    @Param('id') id: string,
    @Param('v') version: string,
    @Body() body: StartReplayBody,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    const asked = { policy: policyId(id), version, ...windowOf(body) };
    // A call that was answered before this request is among the actions that are replayed.
    await this.waiter.catchUp(['actions']);
    return shownReplay(await this.replays.start(exchange.caller.org, asked, exchange.commandMetadata()));
  }

  /** Newest first. */
  @Get('/v1/replays')
  @Route({ ...READ, unknownQuery: 'refused' })
  async list(
    @Query() query: ListReplaysQuery,
    @RequestContext() exchange: Exchange,
  ): Promise<ListEnvelope<JsonObject>> {
    const { policy } = filtersIn('listReplays', query);
    const cursors = this.cursors.forList(exchange, query);
    const after = cursors.after as TimePosition | null;
    const page = await this.replays.list(exchange.caller.org, { policy, limit: query.limit, after });
    return pageOf(page, cursors, { item: shownReplay, position: timePositionOf });
  }

  @Get('/v1/replays/:id')
  @Route(READ)
  async get(@Param('id') id: string, @RequestContext() { caller }: Exchange): Promise<JsonObject> {
    return shownReplay(await this.replays.get(caller.org, replayId(id)));
  }

  @Post('/v1/replays/:id/cancel')
  @HttpCode(200)
  @Route(CHANGE)
  async cancel(@Param('id') id: string, @RequestContext() { caller }: Exchange): Promise<JsonObject> {
    return shownReplay(await this.replays.cancel(caller.org, replayId(id), timestampOf(this.clock.nowMs())));
  }
}

const replayId = (text: string): ReplayId => {
  const id = parseId('rpl', text);
  if (!id) throw new DomainError('not_found');
  return id;
};
