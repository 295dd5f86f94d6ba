import { Controller, Get, Param, Query } from '@nestjs/common';
import { IsIn } from 'class-validator';
import type { JsonObject } from '#libs/crypto';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { QueryInteger } from '../http/query-shape.js';
import { Route } from '../http/route.decorator.js';
import { IfPresent } from '../http/shape.js';
import { ActionDetail } from './action-detail.js';
import { ActionReader, type ReadAction } from './action-reader.js';
import { AwaitAction } from './await-action.js';
import { LongPolls } from './long-polls.js';
import { WAIT_MAX_S } from './submit-action.dto.js';
import { visibleAction } from './visible-action.js';

const EXPANDABLE = ['request', 'result', 'events'];
const TIMEOUT_MS = 60_000;

class GetActionQuery {
  @QueryInteger(0, WAIT_MAX_S)
  wait?: number;

  @IfPresent()
  @IsIn(EXPANDABLE, { each: true, message: `must be one of ${EXPANDABLE.join(', ')}` })
  'expand[]'?: string[];
}

@Controller()
export class GetActionController {
  constructor(
    private readonly reader: ActionReader,
    private readonly waiting: AwaitAction,
    private readonly polls: LongPolls,
    private readonly details: ActionDetail,
  ) {}

  /**
   * One action in full. An agent sees only its own actions; another agent's action is answered like one that does not
   * exist.
   */
  @Get('/v1/actions/:id')
  @Route({
    auth: 'session_or_key',
    role: 'viewer',
    scopes: ['actions:read'],
    since: '2026-10-01',
    unknownQuery: 'refused',
    timeoutMs: TIMEOUT_MS,
  })
  async get(
    @Param('id') idText: string,
    @Query() query: GetActionQuery,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    const known = await visibleAction(this.reader, idText, exchange);
    const waitMs = (query.wait ?? 0) * 1000;
    const read = waitMs === 0 || known.deed !== null ? known : await this.wait(known, waitMs, exchange);
    return this.details.of(read, exchange.caller);
  }

  private async wait(known: ReadAction, waitMs: number, exchange: Exchange): Promise<ReadAction> {
    const { waitingOver: ended, stillAllowed } = exchange;
    const caller = { org: exchange.caller.org, stillAllowed };
    const id = known.action.submission.action;
    return this.polls.hold(exchange.principalRef, async () => {
      const read = await this.waiting.changed(id, caller, { waitMs, ended });
      return read ?? known;
    });
  }
}
