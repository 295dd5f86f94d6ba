import { Body, Controller, Post, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import { INTENT_HEADER, StrictJsonError, type JsonObject } from '#libs/crypto';
import {
  GateKernel,
  MustAsk,
  statusOf,
  SubmitAction,
  type ActionRequest,
  type SubmittedAction,
} from '#libs/domain/gate';
import { DomainError, failpoint } from '#libs/domain/kernel';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { Site } from '../http/site.js';
import { ActionReader, type ReadAction } from './action-reader.js';
import { actionView } from './action.view.js';
import { AwaitAction } from './await-action.js';
import { SubmitActionBody, WAIT_DEFAULT_S } from './submit-action.dto.js';
import { isUnrun, refuseUnrun } from './unrun-action.js';

/** Arguments are at most 256 KiB in canonical form; escapes and white space can make them longer as sent. */
const MAX_BODY_BYTES = 1024 * 1024;
/** Longer than any wait, so that the request never times out before its wait ends. */
const TIMEOUT_MS = 60_000;

@Controller()
export class SubmitActionController {
  constructor(
    private readonly commands: CommandBus,
    private readonly waiting: AwaitAction,
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
    const mode = body.mode ?? 'gateway';
    if (body.connector_type !== undefined && mode !== 'proxy') throw onlyAtTheEdge();
    const submitted = await this.submitted(body, exchange);
    exchange.actionId = submitted.action;
    exchange.isIdempotentReplay = submitted.isReplay;
    if (submitted.isReplay) reply.header('Service-Idempotent-Replayed', 'true');
    else exchange.submission = { mode, toolMs: null };
    const read = await this.answerable(submitted, (body.wait ?? WAIT_DEFAULT_S) * 1000, exchange);
    if (!submitted.isReplay && read.deed !== null) {
      exchange.submission = { mode, toolMs: read.action.outcome?.latency_ms ?? 0 };
    }
    await failpoint('gate.reply');
    const viewpoint = { baseUrl: this.site.baseUrl, clock: this.gate.clock };
    const view = actionView(read, viewpoint, { result: await this.reader.resultOf(read.action) });
    const nowMs = this.gate.clock.nowMs();
    refuseUnrun(read, view, { hasKey: exchange.idempotencyKey !== null, isReplay: submitted.isReplay, nowMs });
    const isAnswered = read.deed !== null || statusOf(read.action, false) === 'authorized';
    reply.code(isAnswered ? 200 : 202);
    return view;
  }

  /**
   * Submits the call by cached state first, which saves a read of the store; the append verifies the cache. If the
   * cache is not enough, the caller is confirmed by the store, and the call is submitted again.
   */
  private async submitted(body: SubmitActionBody, exchange: Exchange): Promise<SubmittedAction> {
    if (!exchange.isCallerConfirmed && exchange.isFresh) {
      try {
        const submitted = await this.execute(body, exchange, 'remembered');
        exchange.callerWasConfirmed();
        return submitted;
      } catch (error) {
        if (!(error instanceof MustAsk)) throw error;
      }
    }
    await exchange.confirmCaller();
    const { caller, isFresh } = exchange;
    // The caller was judged before the body came, which may have taken long. Only a fresh judgement may be reused.
    const since = isFresh && caller.kind === 'agent' ? caller.judgedSince : undefined;
    return this.execute(body, exchange, since);
  }

  private async execute(
    body: SubmitActionBody,
    exchange: Exchange,
    since: SubmitAction['since'],
  ): Promise<SubmittedAction> {
    const { caller } = exchange;
    if (caller.kind !== 'agent') throw new DomainError('insufficient_scope');
    const request: ActionRequest = {
      tool: body.tool,
      args: exchange.argumentsFault?.cause ?? body.args ?? {},
      mode: body.mode ?? 'gateway',
      connectorType: body.connector_type ?? null,
      key: caller.key,
      livemode: caller.livemode,
      idempotencyKey: exchange.idempotencyKey,
      onBehalfOf: exchange.onBehalfOf,
      session: exchange.session,
      intent: exchange.headerValues(INTENT_HEADER),
      trace: exchange.trace,
    };
    const metadata = exchange.commandMetadata();
    try {
      return await this.commands.execute(new SubmitAction(caller.org, caller.agent, request, metadata, since));
    } catch (error) {
      throw error instanceof StrictJsonError ? (exchange.argumentsFault ?? argumentsProblem(error)) : error;
    }
  }

  /**
   * The action after the wait. A refusal waits for its seal even if `wait` is shorter, because it is answered with the
   * sealed action or not at all (rule GATE-4). If the caller's key ends meanwhile, only the wait ends; the action
   * continues.
   */
  private async answerable(submitted: SubmittedAction, waitMs: number, exchange: Exchange): Promise<ReadAction> {
    const { action: id, isRefused: mayBeSealed, isExecuting } = submitted;
    const { waitingOver, clientGone } = exchange;
    const caller = { org: exchange.caller.org, stillAllowed: () => exchange.stillAllowedIfOld() };
    const isNew = isExecuting || mayBeSealed;
    let read = await this.waiting.settled(id, caller, { waitMs, ended: waitingOver }, { isNew, mayBeSealed });
    if (read && read.deed === null && isUnrun(read.action)) {
      const remainingMs = Math.max(0, this.gate.settings.refusalSealTimeoutMs - waitMs);
      const longer = { waitMs: remainingMs, ended: clientGone };
      read = await this.waiting.settled(id, caller, longer, { isNew: false, mayBeSealed });
    }
    if (!read) throw new DomainError('service_unavailable');
    return read;
  }
}

const onlyAtTheEdge = (): DomainError =>
  new DomainError('validation_failed', {
    param: 'connector_type',
    message:
      'The field connector_type goes with the mode proxy alone. Leave it out, or send mode proxy and run the tool yourself.',
  });

/** The error for arguments that the strict parser refused (rule FORM-7). */
const argumentsProblem = (error: StrictJsonError): DomainError =>
  new DomainError('validation_failed', {
    param: 'args',
    message:
      error.reason === 'depth'
        ? 'The field args is nested more than 32 deep. Flatten the arguments.'
        : 'The field args is larger than 256 KiB in canonical form. Send large values by reference.',
    cause: error,
  });
