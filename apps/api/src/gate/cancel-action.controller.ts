import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { JsonObject } from '#libs/crypto';
import { CancelAction } from '#libs/domain/gate';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { ActionReader } from './action-reader.js';
import { SealedAnswers } from './sealed-answers.js';
import { visibleAction } from './visible-action.js';

@Controller()
export class CancelActionController {
  constructor(
    private readonly commands: CommandBus,
    private readonly reader: ActionReader,
    private readonly answers: SealedAnswers,
  ) {}

  /** An agent may cancel its own actions. Admins may cancel every action of the organization. */
  @Post('/v1/actions/:id/cancel')
  @HttpCode(200)
  @Route({ auth: 'session_or_key', role: 'admin', scopes: ['actions:execute'], since: '2026-10-01' })
  async cancel(@Param('id') idText: string, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    const { action } = await visibleAction(this.reader, idText, exchange);
    const id = action.submission.action;
    await this.commands.execute(new CancelAction(id, exchange.commandMetadata()));
    return this.answers.of(id, exchange, 'The cancellation');
  }
}
