import { Controller, Get, Query } from '@nestjs/common';
import { IsString } from 'class-validator';
import { type CheckedRange, CheckLedger, type LedgerCheck } from '#libs/domain/ledger';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { QueryInteger } from '../http/query-shape.js';
import { queryProblem } from '../http/query-string.js';
import { Route } from '../http/route.decorator.js';
import { IfPresent } from '../http/shape.js';
import { instantAtOrAfter } from '../lists/filter-values.js';

/** How many deeds up to the head a check covers by default, as `doctor` does, and at most (rule DEED-17). */
const LAST_DEFAULT = 1_000;
const LAST_MAX = 10_000;

class CheckLedgerQuery {
  /** The number of deeds, up to the head. */
  @QueryInteger(1, LAST_MAX)
  last?: number;

  /** Inclusive, over `issued_at`; up to the head. */
  @IfPresent()
  @IsString()
  from?: string;
}

@Controller()
export class CheckLedgerController {
  constructor(private readonly ledger: CheckLedger) {}

  /** Reports the state of the chain and nothing that its deeds say, so every key that may read deeds may ask. */
  @Get('/v1/ledger/check')
  @Route({
    auth: 'session_or_key',
    role: 'viewer',
    scopes: ['deeds:read'],
    since: '2026-10-01',
    unknownQuery: 'refused',
  })
  async check(@Query() query: CheckLedgerQuery, @RequestContext() exchange: Exchange): Promise<LedgerCheck> {
    return this.ledger.check(exchange.caller.org, rangeOf(query), exchange.clientGone);
  }
}

/**
 * @throws {DomainError} `validation_failed` with `param: from`, when `from` is no instant or is sent together with
 * `last`
 */
const rangeOf = ({ last, from }: CheckLedgerQuery): CheckedRange => {
  const since = from === undefined ? null : instantAtOrAfter('from', from);
  if (since === null) return { last: last ?? LAST_DEFAULT };
  if (last !== undefined) throw queryProblem('from', 'cannot be sent together with last');
  return { since };
};
