import { Body, Controller, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { INTENT_HEADER, type JsonObject } from '#libs/crypto';
import { GateKernel, statusOf } from '#libs/domain/gate';
import { DomainError, failpoint } from '#libs/domain/kernel';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { Site } from '../http/site.js';
import { ActionReader } from './action-reader.js';
import { actionView } from './action.view.js';
import { type AskedCall, GateCalls } from './gate-calls.js';
import { SubmitActionBody, WAIT_DEFAULT_S } from './submit-action.dto.js';
import { refuseUnrun } from './unrun-action.js';

/** Arguments are at most 256 KiB in canonical form; escapes and white space can make them longer as sent. */
const MAX_BODY_BYTES = 1024 * 1024;
/** Longer than any wait, so that the request never times out before its wait ends. */
const TIMEOUT_MS = 60_000;

@Controller()
export class SubmitActionController {
  constructor(
    private readonly calls: GateCalls,
    private readonly reader: ActionReader,
    private readonly gate: GateKernel,
    private readonly site: Site,
  ) {}

  @Post('/v1/actions')
  @Route({
    auth: 'agent_key',
    scopes: ['actions:execute'],
    since: '2026-10-01',
    maxBodyBytes: MAX_BODY_BYTES,
    largeBodyAdvice: 'Send less, or send large values by reference.',
    timeoutMs: TIMEOUT_MS,
    idempotency: 'gate',
    stop: 'recorded',
    confirms: 'handler',
    argumentFaults: 'judged_if_signed',
  })
  async submit(
    @Body() body: SubmitActionBody,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonObject> {
    if (body.connector_type !== undefined && body.mode !== 'proxy') throw onlyAtTheEdge();
    const submitted = await this.calls.submit(askedIn(body, exchange), exchange);
    if (submitted.isReplay) reply.header('Service-Idempotent-Replayed', 'true');
    const read = await this.calls.answerable(submitted, (body.wait ?? WAIT_DEFAULT_S) * 1000, exchange);
    await failpoint('gate.reply');
    const viewpoint = { baseUrl: this.site.baseUrl, clock: this.gate.clock };
    const view = actionView(read, viewpoint, { result: await this.reader.resultOf(read.action) });
    const nowMs = this.gate.clock.nowMs();
    refuseUnrun(read, view, { hasKey: exchange.idempotencyKey !== null, isReplay: submitted.isReplay, nowMs });
    const isAnswered = read.deed !== null || statusOf(read.action, false) === 'authorized';
    reply.code(isAnswered ? 200 : 202);
    return view;
  }
}

const askedIn = (body: SubmitActionBody, exchange: Exchange): AskedCall => ({
  tool: body.tool,
  args: exchange.argumentsFault?.cause ?? body.args ?? {},
  mode: body.mode ?? 'gateway',
  connectorType: body.connector_type ?? null,
  idempotencyKey: exchange.idempotencyKey,
  onBehalfOf: exchange.onBehalfOf,
  session: exchange.session,
  intent: exchange.headerValues(INTENT_HEADER),
});

const onlyAtTheEdge = (): DomainError =>
  new DomainError('validation_failed', {
    param: 'connector_type',
    message:
      'The field connector_type goes with the mode proxy alone. Leave it out, or send mode proxy and run the tool yourself.',
  });
