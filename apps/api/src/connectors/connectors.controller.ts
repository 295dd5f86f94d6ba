import { Body, Controller, Delete, Get, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import { ConnectorStreams, CreateConnector, DeleteConnector, UpdateConnector } from '#libs/domain/connectors';
import { CHANGE, READ } from '../control-plane.js';
import type { Exchange } from '../http/exchange.js';
import type { ListEnvelope } from '../http/list-envelope.js';
import { RequestContext } from '../http/parameters.js';
import { ListQuery } from '../http/query-shape.js';
import { Route } from '../http/route.decorator.js';
import { ListAnswers } from '../lists/list-answers.js';
import { type PageRequest, type TimePosition, timePositionOf } from '../lists/listed.js';
import { PolicyLinter } from '../policies/policy-linter.js';
import { diagnosticsView } from '../policies/policy.view.js';
import { ConnectorAnswers } from './connector-answers.js';
import { CreateConnectorBody, UpdateConnectorBody } from './connector.dto.js';
import { ListConnectors } from './list-connectors.query-handler.js';

/** A config is at most 64 KiB as it is stored; as sent it may be spaced and escaped more generously. */
const MAX_BODY_BYTES = 256 * 1024;

@Controller('v1/connectors')
export class ConnectorsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly connectors: ConnectorStreams,
    private readonly answers: ConnectorAnswers,
    private readonly lists: ListAnswers,
    private readonly linter: PolicyLinter,
  ) {}

  /** Newest first. */
  @Get()
  @Route(READ)
  async list(
    @Query() query: ListQuery,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ListEnvelope<JsonObject>> {
    return this.lists.page(
      { query, exchange, reply },
      (page: PageRequest<TimePosition>) => new ListConnectors(exchange.caller.org, page),
      {
        item: ({ folded, lastTest }) => this.answers.viewWith(folded, lastTest),
        position: timePositionOf,
      },
    );
  }

  @Get(':id')
  @Route(READ)
  async get(@Param('id') id: string, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    return this.answers.view(await this.connectors.live(await this.answers.addressOf(exchange.caller.org, id)));
  }

  @Post()
  @Route({ ...CHANGE, maxBodyBytes: MAX_BODY_BYTES })
  async create(@Body() body: CreateConnectorBody, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    const metadata = exchange.commandMetadata();
    const request = { ...body, description: body.description ?? null };
    const created = await this.commands.execute(new CreateConnector(exchange.caller.org, request, metadata));
    return this.answers.changed(created, metadata);
  }

  /** With what the enforced policy has to say of the tools as they are now, and did not before. */
  @Patch(':id')
  @Route({ ...CHANGE, maxBodyBytes: MAX_BODY_BYTES })
  async update(
    @Param('id') id: string,
    @Body() body: UpdateConnectorBody,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    const metadata = exchange.commandMetadata();
    const address = await this.answers.addressOf(exchange.caller.org, id);
    const { expected_config_hash: expectedConfigHash, ...changes } = body;
    const expected = expectedConfigHash === undefined ? {} : { expectedConfigHash };
    const before = await this.connectors.live(address);
    const updated = await this.commands.execute(new UpdateConnector(address, { ...changes, ...expected }, metadata));
    const warnings = await this.linter.causedBy(address.org, before, updated);
    return { ...(await this.answers.changed(updated, metadata)), policy_warnings: diagnosticsView(warnings) };
  }

  /** The name is free again; what the connector did stays in the ledger. */
  @Delete(':id')
  @Route(CHANGE)
  async delete(@Param('id') id: string, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    const metadata = exchange.commandMetadata();
    const address = await this.answers.addressOf(exchange.caller.org, id);
    const { id: connector, name } = await this.connectors.live(address);
    await this.commands.execute(new DeleteConnector({ ...address, connector }, metadata));
    const deed = await this.answers.deedOf(address, metadata);
    return { object: 'connector', id: connector, name, deleted: true, deed };
  }
}
