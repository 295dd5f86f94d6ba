import { Injectable } from '@nestjs/common';
import { type Query, QueryBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import { CursorCodec, type ListPosition } from '../http/cursor-codec.js';
import type { Exchange } from '../http/exchange.js';
import { type ListEnvelope, pageOf } from '../http/list-envelope.js';
import type { ListQuery } from '../http/query-shape.js';
import type { Listed, PageRequest } from './listed.js';
import { tellLag } from './projection-lag.js';

export interface ListRequest {
  readonly query: ListQuery;
  readonly exchange: Exchange;
  readonly reply: FastifyReply;
}

/** How every list that is read from projections is answered: from the cursor, with the next one, and with the lag. */
@Injectable()
export class ListAnswers {
  constructor(
    private readonly queries: QueryBus,
    private readonly cursors: CursorCodec,
  ) {}

  /**
   * @param question asks for a page; what it reads of a position is what `shape` wrote into the cursor
   * @throws {DomainError} validation_failed with `param: cursor`
   */
  async page<Row, Position extends ListPosition>(
    { query, exchange, reply }: ListRequest,
    question: (page: PageRequest<Position>) => Query<Listed<Row>>,
    shape: { readonly item: (row: Row) => JsonObject; readonly position: (row: Row) => Position },
  ): Promise<ListEnvelope<JsonObject>> {
    const cursors = this.cursors.forList(exchange, query);
    const page = { limit: query.limit, after: cursors.after as Position | null };
    const listed = await this.queries.execute(question(page));
    tellLag(reply, listed);
    return pageOf(listed, cursors, shape);
  }
}
