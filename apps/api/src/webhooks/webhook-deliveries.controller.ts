import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import type { JsonObject } from '#libs/crypto';
import { Clock, DomainError, parseId } from '#libs/domain/kernel';
import { WebhookDeliveries } from '#libs/domain/webhooks';
import { CHANGE } from '../control-plane.js';
import { CursorCodec } from '../http/cursor-codec.js';
import type { Exchange } from '../http/exchange.js';
import { type ListEnvelope, pageOf } from '../http/list-envelope.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { WindowLimit } from '../http/window-limit.js';
import { filteredQuery, filtersIn } from '../lists/filters.js';
import { type TimePosition, timePositionOf } from '../lists/listed.js';
import { RedeliverBody } from './webhook.dto.js';
import { deliveryView } from './webhook.view.js';
import { webhookId } from './webhook-id.js';

/** Of one endpoint, in this process, as of the test of a connector. */
const TESTS_A_MINUTE = 10;
const MINUTE_MS = 60_000;
/** The setting of an attempt allows a minute; what stands around it takes moments. */
const TEST_TIMEOUT_MS = 75_000;

class ListDeliveriesQuery extends filteredQuery('listWebhookDeliveries') {}

@Controller('v1/webhooks/:id')
export class WebhookDeliveriesController {
  private readonly tests: WindowLimit;

  constructor(
    private readonly deliveries: WebhookDeliveries,
    private readonly cursors: CursorCodec,
    clock: Clock,
  ) {
    this.tests = new WindowLimit(clock, TESTS_A_MINUTE, MINUTE_MS);
  }

  /** Newest first. */
  @Get('deliveries')
  @Route({ ...CHANGE, unknownQuery: 'refused' })
  async list(
    @Param('id') id: string,
    @Query() query: ListDeliveriesQuery,
    @RequestContext() exchange: Exchange,
  ): Promise<ListEnvelope<JsonObject>> {
    const { status: statuses } = filtersIn('listWebhookDeliveries', query);
    const cursors = this.cursors.forList(exchange, query);
    const after = cursors.after as TimePosition | null;
    const page = await this.deliveries.list(exchange.caller.org, webhookId(id), {
      limit: query.limit,
      after,
      statuses,
    });
    return pageOf(page, cursors, {
      item: deliveryView,
      position: ({ event, createdAt }) => timePositionOf({ id: event, createdAt }),
    });
  }

  /** Waits for the receiver's answer, and tells it. */
  @Post('test')
  @HttpCode(200)
  @Route({ ...CHANGE, timeoutMs: TEST_TIMEOUT_MS })
  async test(@Param('id') id: string, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    const { org } = exchange.caller;
    const webhook = webhookId(id);
    this.tests.take(`${org} ${webhook}`);
    return deliveryView(await this.deliveries.test(org, webhook, exchange.commandMetadata()));
  }

  /** Sent as soon as a worker takes it up; the answer does not wait for that. */
  @Post('redeliver')
  @HttpCode(200)
  @Route(CHANGE)
  async redeliver(
    @Param('id') id: string,
    @Body() body: RedeliverBody,
    @RequestContext() { caller }: Exchange,
  ): Promise<JsonObject> {
    const event = parseId('evt', body.event);
    if (!event) {
      const message = 'The field event must be the id of an event, evt_ and 26 characters.';
      throw new DomainError('validation_failed', { param: 'event', message });
    }
    return deliveryView(await this.deliveries.redeliver(caller.org, webhookId(id), event));
  }
}
