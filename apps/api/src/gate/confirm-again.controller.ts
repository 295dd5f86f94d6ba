import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { JsonObject } from '#libs/crypto';
import { ConfirmAgain } from '#libs/domain/gate';
import { DomainError, parseId } from '#libs/domain/kernel';
import { CHANGE } from '../control-plane.js';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { ActionDetail } from './action-detail.js';
import { ActionReader } from './action-reader.js';

/** Longer than the reads may take, so that the request never times out before them. */
const TIMEOUT_MS = 60_000;

@Controller()
export class ConfirmAgainController {
  constructor(
    private readonly commands: CommandBus,
    private readonly reader: ActionReader,
    private readonly details: ActionDetail,
  ) {}

  /** Reads back again what an action wrote, and amends the witness by the result. */
  @Post('/v1/actions/:id/witness')
  @HttpCode(200)
  @Route({ ...CHANGE, timeoutMs: TIMEOUT_MS })
  async confirm(@Param('id') idText: string, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    const id = parseId('act', idText);
    if (!id) throw new DomainError('not_found');
    const { org } = exchange.caller;
    await this.commands.execute(new ConfirmAgain(org, id, exchange.commandMetadata()));
    exchange.actionId = id;
    const read = await this.reader.read(id, org);
    if (!read) throw new DomainError('service_unavailable');
    return this.details.of(read, exchange.caller);
  }
}
