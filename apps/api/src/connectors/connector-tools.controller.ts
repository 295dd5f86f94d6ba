import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { JsonObject } from '#libs/crypto';
import { AcceptTools, ToolDiscovery } from '#libs/domain/connectors';
import { CHANGE, READ } from '../control-plane.js';
import { CursorCodec } from '../http/cursor-codec.js';
import type { Exchange } from '../http/exchange.js';
import type { ListEnvelope } from '../http/list-envelope.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { filteredQuery, filtersIn } from '../lists/filters.js';
import { ConnectorAnswers } from './connector-answers.js';
import { AcceptToolsBody } from './connector-tools.dto.js';
import { ConnectorToolsReader } from './connector-tools.reader.js';

/** Five hundred names of the greatest length with their digests. */
const MAX_BODY_BYTES = 256 * 1024;
/** A look at a server's tools ends after 15 seconds. */
const REFRESH_TIMEOUT_MS = 30_000;

class ListConnectorToolsQuery extends filteredQuery('listConnectorTools') {}

/** What the server of a connector says of its tools, and what a person says of that. */
@Controller('v1/connectors/:id/tools')
export class ConnectorToolsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly reader: ConnectorToolsReader,
    private readonly discovery: ToolDiscovery,
    private readonly answers: ConnectorAnswers,
    private readonly cursors: CursorCodec,
  ) {}

  /** By name. Empty where the config names the tools. */
  @Get()
  @Route({ ...READ, unknownQuery: 'refused' })
  async list(
    @Param('id') id: string,
    @Query() query: ListConnectorToolsQuery,
    @RequestContext() exchange: Exchange,
  ): Promise<ListEnvelope<JsonObject>> {
    const { status: statuses } = filtersIn('listConnectorTools', query);
    const cursors = this.cursors.forList(exchange, query);
    const address = await this.answers.addressOf(exchange.caller.org, id);
    return this.reader.page(address, { limit: query.limit, statuses }, cursors);
  }

  /** Agents may call these tools from here on, in the definitions that the digests name. */
  @Post('accept')
  @HttpCode(200)
  @Route({ ...CHANGE, maxBodyBytes: MAX_BODY_BYTES })
  async accept(
    @Param('id') id: string,
    @Body() { tools }: AcceptToolsBody,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    const metadata = exchange.commandMetadata();
    const address = await this.answers.addressOf(exchange.caller.org, id);
    const asked = tools.map(({ name, definition_digest: definition }) => ({ name, definition }));
    return this.answers.changed(await this.commands.execute(new AcceptTools(address, asked, metadata)), metadata);
  }

  /** Asks the server now. What is new is sealed as the service's own doing. */
  @Post('refresh')
  @HttpCode(200)
  @Route({ ...CHANGE, timeoutMs: REFRESH_TIMEOUT_MS })
  async refresh(@Param('id') id: string, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    const address = await this.answers.addressOf(exchange.caller.org, id);
    return this.answers.view(await this.discovery.refresh(address));
  }
}
