import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { StrictJsonError } from '#libs/crypto';
import { GateKernel, MustAsk, SubmitAction, type ActionRequest, type SubmittedAction } from '#libs/domain/gate';
import { DomainError } from '#libs/domain/kernel';
import type { Exchange } from '../http/exchange.js';
import type { ReadAction } from './action-reader.js';
import { AwaitAction } from './await-action.js';
import { isUnrun } from './unrun-action.js';

/** What is asked for; who asks, and with which key, is known from the request that it came in. */
export type AskedCall = Omit<ActionRequest, 'key' | 'livemode' | 'trace'>;

/** Brings a call of an agent to the gate and waits for its answer, for every route that calls come in by. */
@Injectable()
export class GateCalls {
  constructor(
    private readonly commands: CommandBus,
    private readonly waiting: AwaitAction,
    private readonly gate: GateKernel,
  ) {}

  /**
   * Submits the call by cached state first, which saves a read of the store; the append verifies the cache. If the
   * cache is not enough, the caller is confirmed by the store, and the call is submitted again.
   * @throws {DomainError} nothing was recorded
   */
  async submit(asked: AskedCall, exchange: Exchange): Promise<SubmittedAction> {
    const submitted = await this.submitted(asked, exchange);
    exchange.actionId = submitted.action;
    exchange.isIdempotentReplay = submitted.isReplay;
    if (!submitted.isReplay) exchange.submission = { mode: asked.mode, toolMs: null };
    return submitted;
  }

  private async submitted(asked: AskedCall, exchange: Exchange): Promise<SubmittedAction> {
    if (!exchange.isCallerConfirmed && exchange.isFresh) {
      try {
        const submitted = await this.execute(asked, exchange, 'remembered');
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
    return this.execute(asked, exchange, since);
  }

  private async execute(asked: AskedCall, exchange: Exchange, since: SubmitAction['since']): Promise<SubmittedAction> {
    const { caller, trace } = exchange;
    if (caller.kind !== 'agent') throw new DomainError('insufficient_scope');
    const request = requestOf(asked, caller, trace);
    const metadata = exchange.commandMetadata();
    try {
      return await this.commands.execute(new SubmitAction(caller.org, caller.agent, request, metadata, since));
    } catch (error) {
      throw error instanceof StrictJsonError ? (exchange.argumentsFault ?? argumentsProblem(error)) : error;
    }
  }

  /**
   * The action after the wait. A refusal waits for its seal even if the wait is shorter, because it is answered with the
   * sealed action or not at all (rule GATE-4). If the caller's key ends meanwhile, only the wait ends; the action
   * continues.
   */
  async answerable(submitted: SubmittedAction, waitMs: number, exchange: Exchange): Promise<ReadAction> {
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
    if (!submitted.isReplay && read.deed !== null && exchange.submission !== null) {
      exchange.submission = { mode: exchange.submission.mode, toolMs: read.action.outcome?.latency_ms ?? 0 };
    }
    return read;
  }
}

/** Member by member: what is spread and then added to has a hidden class of its own with each call (docs/performance.md). */
const requestOf = (
  { tool, args, mode, connectorType, idempotencyKey, onBehalfOf, session, intent, origin }: AskedCall,
  { key, livemode }: Pick<ActionRequest, 'key' | 'livemode'>,
  trace: ActionRequest['trace'],
): ActionRequest => {
  const request: ActionRequest = {
    tool,
    args,
    mode,
    connectorType,
    key,
    livemode,
    idempotencyKey,
    onBehalfOf,
    session,
    intent,
    trace,
  };
  return origin === undefined ? request : { ...request, origin };
};

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
