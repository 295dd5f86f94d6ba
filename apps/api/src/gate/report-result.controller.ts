import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { JsonObject } from '#libs/crypto';
import { ReportEdgeResult } from '#libs/domain/gate';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { ActionReader } from './action-reader.js';
import { ReportResultBody, reportIn, RESULT_MAX_BYTES } from './report-result.dto.js';
import { SealedAnswers } from './sealed-answers.js';
import { visibleAction } from './visible-action.js';

/** The largest result, and room for the other fields. */
const MAX_BODY_BYTES = RESULT_MAX_BYTES + 64 * 1024;

@Controller()
export class ReportResultController {
  constructor(
    private readonly commands: CommandBus,
    private readonly reader: ActionReader,
    private readonly answers: SealedAnswers,
  ) {}

  /**
   * Reports the result of a call at the edge. Any key of the agent may report. A Stop does not prevent a report,
   * because the tool ran before it.
   */
  @Post('/v1/actions/:id/result')
  @HttpCode(200)
  @Route({
    auth: 'agent_key',
    scopes: ['actions:execute'],
    since: '2026-10-01',
    stop: 'heard',
    maxBodyBytes: MAX_BODY_BYTES,
    largeBodyAdvice: 'Send result_digest instead of result.',
  })
  async report(
    @Param('id') idText: string,
    @Body() body: ReportResultBody,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    const { action } = await visibleAction(this.reader, idText, exchange);
    const id = action.submission.action;
    const metadata = exchange.commandMetadata();
    const { report, result } = reportIn(body, Date.parse(metadata.now));
    await this.commands.execute(new ReportEdgeResult(id, report, result, metadata));
    return this.answers.of(id, exchange, 'The result');
  }
}
