import { Body, Controller, Post, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import { StrictJsonError, type JsonObject } from '#libs/crypto';
import { GateKernel, MustAsk, SubmitAction, type ActionRequest, type SubmittedAction } from '#libs/domain/gate';
import { DomainError, ERROR_CATALOGUE, type ErrorCode, failpoint } from '#libs/domain/kernel';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { ActionReader, type ReadAction } from './action-reader.js';
import { actionView } from './action.view.js';
import { AwaitAction } from './await-action.js';
import { SubmitActionBody, WAIT_DEFAULT_S } from './submit-action.dto.js';

/** Arguments are at most 256 KiB in canonical form; as sent they may be escaped and spaced more generously. */
const MAX_BODY_BYTES = 1024 * 1024;
/** Longer than any wait, so that the wait itself always answers. */
const TIMEOUT_MS = 60_000;

@Controller()
export class SubmitActionController {
  constructor(
    private readonly commands: CommandBus,
    private readonly waiting: AwaitAction,
    private readonly reader: ActionReader,
    private readonly gate: GateKernel,
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
  })
  async submit(
    @Body() body: SubmitActionBody,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonObject> {
    if (body.mode === 'proxy') {
      throw new DomainError('validation_failed', {
        param: 'mode',
        message: 'The mode proxy is not served by this version. Send mode gateway, or leave it out.',
      });
    }
    const submitted = await this.submitted(body, exchange);
    exchange.actionId = submitted.action;
    exchange.isIdempotentReplay = submitted.isReplay;
    if (submitted.isReplay) reply.header('Service-Idempotent-Replayed', 'true');
    else exchange.submission = { mode: 'gateway', toolMs: null };
    const read = await this.answerable(submitted, (body.wait ?? WAIT_DEFAULT_S) * 1000, exchange);
    if (!submitted.isReplay && read.deed !== null) {
      exchange.submission = { mode: 'gateway', toolMs: read.action.outcome?.latency_ms ?? 0 };
    }
    await failpoint('gate.reply');
    const view = actionView(read, { result: await this.reader.resultOf(read.action) });
    refuseDenied(read, view, { hasKey: exchange.idempotencyKey !== null, isReplay: submitted.isReplay });
    reply.code(read.deed === null ? 202 : 200);
    return view;
  }

  /** By what this process remembers where that is enough, which spares a question to the store; the log confirms it. */
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
    // A body may have taken long to come.
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
      args: body.args ?? {},
      mode: 'gateway',
      key: caller.key,
      livemode: caller.livemode,
      idempotencyKey: exchange.idempotencyKey,
      onBehalfOf: exchange.onBehalfOf,
      session: exchange.session,
    };
    const metadata = exchange.commandMetadata();
    try {
      return await this.commands.execute(new SubmitAction(caller.org, caller.agent, request, metadata, since));
    } catch (error) {
      throw error instanceof StrictJsonError ? argumentsProblem(error) : error;
    }
  }

  /**
   * The action as far as `wait` let it come. A refusal waits for its seal whatever `wait` says: it is answered with the
   * sealed action, or not yet at all (architecture, step 6). A key that ends meanwhile ends the wait, and nothing else: the
   * action goes on.
   */
  private async answerable(submitted: SubmittedAction, waitMs: number, exchange: Exchange): Promise<ReadAction> {
    const { action: id, isReplay, isRefused } = submitted;
    const { waitingOver, clientGone } = exchange;
    const caller = { org: exchange.caller.org, stillAllowed: () => exchange.stillAllowedIfOld() };
    let read = await this.waiting.settled(id, caller, { waitMs, ended: waitingOver }, { isNew: !isReplay, isRefused });
    if (read && read.deed === null && read.action.decision?.outcome === 'deny') {
      const remainingMs = Math.max(0, this.gate.settings.refusalSealTimeoutMs - waitMs);
      const longer = { waitMs: remainingMs, ended: clientGone };
      read = await this.waiting.settled(id, caller, longer, { isNew: false, isRefused });
    }
    if (!read) throw new DomainError('service_unavailable');
    return read;
  }
}

/** Document 1: a refusal is an error envelope that carries the sealed action; the message is the decision's own sentence. */
const refuseDenied = (
  { action, deed }: ReadAction,
  view: JsonObject,
  { hasKey, isReplay }: { readonly hasKey: boolean; readonly isReplay: boolean },
): void => {
  const { decision } = action;
  if (decision?.outcome !== 'deny') return;
  if (deed === null) {
    throw new DomainError('service_unavailable', {
      message: hasKey
        ? 'The refusal is recorded but could not be sealed yet. Send the same request with the same Idempotency-Key again.'
        : 'The call is refused, and the refusal recorded, but it could not be sealed yet. Nothing was run; read the action later.',
    });
  }
  const code = decision.code ?? 'policy_denied';
  const message = (isReplay ? STOPPED_THEN[code] : undefined) ?? decision.message ?? ERROR_CATALOGUE[code].message;
  throw new DomainError(code, { message, extra: { action: view } });
};

const THEN = 'when the call was made, and that refusal is the answer to its Idempotency-Key';
const ANEW = 'send the call with a new Idempotency-Key';

/** Of a refusal that is told again: the Stop that was its reason may be over. */
const STOPPED_THEN: Partial<Readonly<Record<ErrorCode, string>>> = {
  agent_stopped: `This agent was stopped ${THEN}. Once it is resumed, ${ANEW}.`,
  agent_suspended: `This agent was suspended ${THEN}. Once it is resumed, ${ANEW}.`,
  org_stopped: `All agents of this organization were stopped ${THEN}. Once they are started again, ${ANEW}.`,
};

/** Document 2, arguments profile. */
const argumentsProblem = (error: StrictJsonError): DomainError =>
  new DomainError('validation_failed', {
    param: 'args',
    message:
      error.reason === 'depth'
        ? 'The field args is nested more than 32 deep. Flatten the arguments.'
        : 'The field args is larger than 256 KiB in canonical form. Send large values by reference.',
    cause: error,
  });
