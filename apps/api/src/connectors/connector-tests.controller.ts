import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import type { JsonObject } from '#libs/crypto';
import { ConnectorStreams, ConnectorTests } from '#libs/domain/connectors';
import { CHANGE, READ } from '../control-plane.js';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { ConnectorAnswers } from './connector-answers.js';
import { connectorTestView } from './connector.view.js';

/** The longest request that a config allows takes a minute; the checks before it have a quarter of one. */
const TEST_TIMEOUT_MS = 90_000;

@Controller('v1/connectors/:id')
export class ConnectorTestsController {
  constructor(
    private readonly tests: ConnectorTests,
    private readonly answers: ConnectorAnswers,
    private readonly connectors: ConnectorStreams,
  ) {}

  /** Waits for the system's answer, and tells what came of it. Reads alone: no event, no deed. */
  @Post('test')
  @HttpCode(200)
  @Route({ ...CHANGE, timeoutMs: TEST_TIMEOUT_MS })
  async test(@Param('id') id: string, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    return connectorTestView(await this.tests.test(await this.answers.addressOf(exchange.caller.org, id)));
  }

  /** The same checklist for whoever may only look: of a moment ago, or made now. */
  @Get('readiness')
  @Route({ ...READ, timeoutMs: TEST_TIMEOUT_MS })
  async readiness(@Param('id') id: string, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    return connectorTestView(await this.tests.readiness(await this.answers.addressOf(exchange.caller.org, id)));
  }

  /** How the change log of the connector is followed, and what of it. */
  @Get('witness')
  @Route(READ)
  async witness(@Param('id') id: string, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    return this.answers.decoder(await this.connectors.live(await this.answers.addressOf(exchange.caller.org, id)));
  }
}
