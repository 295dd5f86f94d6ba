import { Controller, Get, Headers, Param, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { digestOf } from '#libs/crypto';
import { catalogueOf, type CatalogueEntry, ConnectorSettings } from '#libs/domain/connectors';
import { DomainError } from '#libs/domain/kernel';
import { READ } from '../control-plane.js';
import { CursorCodec } from '../http/cursor-codec.js';
import { isTagKnown } from '../http/entity-tag.js';
import type { Exchange } from '../http/exchange.js';
import { pageOf } from '../http/list-envelope.js';
import { RequestContext } from '../http/parameters.js';
import { ListQuery } from '../http/query-shape.js';
import { Route } from '../http/route.decorator.js';

/** The catalogue is the same for every organization, but only its members and admin keys may read it (rule CON-8). */
const CACHE_CONTROL = 'private, max-age=300';

/** What connectors there can be. */
@Controller('v1/connector-types')
export class ConnectorTypesController {
  private readonly catalogue: readonly CatalogueEntry[];

  constructor(
    private readonly cursors: CursorCodec,
    settings: ConnectorSettings,
  ) {
    this.catalogue = catalogueOf(settings);
  }

  /** In the order of titles. */
  @Get()
  @Route(READ)
  list(
    @Query() query: ListQuery,
    @Headers('if-none-match') known: string | undefined,
    @RequestContext() exchange: Exchange,
    @Res() reply: FastifyReply,
  ): void {
    const cursors = this.cursors.forList(exchange, query);
    const after = cursors.after as string | null;
    const rest = this.catalogue.filter(({ title }) => after === null || title > after);
    const listed = { rows: rest.slice(0, query.limit), hasMore: rest.length > query.limit };
    send(reply, known, pageOf(listed, cursors, { item: (entry) => entry, position: ({ title }) => title }));
  }

  @Get(':type')
  @Route(READ)
  get(
    @Param('type') type: string,
    @Headers('if-none-match') known: string | undefined,
    @Res() reply: FastifyReply,
  ): void {
    const entry = this.catalogue.find((each) => each.type === type);
    if (!entry) throw new DomainError('not_found');
    send(reply, known, entry);
  }
}

const send = (reply: FastifyReply, known: string | undefined, value: object): void => {
  const body = JSON.stringify(value);
  const etag = `"${digestOf(body)}"`;
  void reply.header('ETag', etag).header('Cache-Control', CACHE_CONTROL);
  if (isTagKnown(known, etag)) return void reply.code(304).send();
  void reply.header('Content-Type', 'application/json; charset=utf-8').send(body);
};
