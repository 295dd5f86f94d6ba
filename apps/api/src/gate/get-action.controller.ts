import { Controller, Get, Param, Query } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { IsIn } from 'class-validator';
import type { JsonObject } from '#libs/crypto';
import { DomainError, parseId, type EventEnvelope } from '#libs/domain/kernel';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { QueryInteger } from '../http/query-shape.js';
import { Route } from '../http/route.decorator.js';
import { IfPresent } from '../http/shape.js';
import { deedSummary } from '../ledger/deed.view.js';
import { FindSealedDeed } from '../ledger/find-sealed-deed.query-handler.js';
import { ActionReader, type ReadAction } from './action-reader.js';
import { actionView, readWhenWritten } from './action.view.js';
import { AwaitAction } from './await-action.js';
import { LongPolls } from './long-polls.js';
import { WAIT_MAX_S } from './submit-action.dto.js';

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
    private readonly queries: QueryBus,
  ) {}

  /** ActionDetail (document 1). An agent sees its own actions; another's is as absent as one that never was. */
  @Get('/v1/actions/:id')
  @Route({
    auth: 'session_or_key',
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
    const id = parseId('act', idText);
    if (!id) throw new DomainError('not_found');
    const known = await this.reader.read(id, exchange.caller.org);
    if (!known || !isVisible(known, exchange)) throw new DomainError('not_found');
    exchange.actionId = id;
    const waitMs = (query.wait ?? 0) * 1000;
    const isSettled = known.deed !== null;
    const read = waitMs === 0 || isSettled ? known : await this.wait(known, waitMs, exchange);
    return this.detail(read);
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

  private async detail(read: ReadAction): Promise<JsonObject> {
    const [input, result, deed] = await Promise.all([
      this.reader.inputOf(read.action),
      this.reader.resultOf(read.action),
      read.deed === null ? null : this.queries.execute(new FindSealedDeed(read.action.submission.org, read.deed)),
    ]);
    const view = actionView(read, { result });
    const witness = view['witness'] as JsonObject | null;
    return {
      ...view,
      // The tool's own word (L0) has no evidence behind it to show.
      witness: witness && { ...witness, detail: null },
      request: input && { tool: input['tool'] ?? null, args: input['args'] ?? null, mode: input['mode'] ?? null },
      result: readWhenWritten(result),
      events: read.events.map(lifecycleEvent),
      deeds: deed === null ? [] : [deedSummary(deed)],
      approval: null,
    };
  }
}

const isVisible = ({ action }: ReadAction, { caller }: Exchange): boolean =>
  caller.kind !== 'agent' || action.submission.agent === caller.agent;

/** What happened, in order: the event's type, when, and where it stands in the log. */
const lifecycleEvent = ({ event, metadata, recorded }: EventEnvelope): JsonObject => ({
  type: event.type,
  at: metadata.at,
  id: recorded.id,
  revision: recorded.revision,
});
