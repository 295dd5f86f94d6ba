import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { JsonObject } from '#libs/crypto';
import { CancelAction, isSameCall, statusOf } from '#libs/domain/gate';
import { DomainError, failpoint, parseId, RPC_CODE } from '#libs/domain/kernel';
import { ActionReader, type ReadAction } from '../gate/action-reader.js';
import { GateCalls } from '../gate/gate-calls.js';
import { isUnrun, requireSealed } from '../gate/unrun-action.js';
import type { Exchange } from '../http/exchange.js';
import { callerWords, type CallerWords } from './caller-words.js';
import type { ClientRequest } from './client-request.js';
import { type Door, DoorTools } from './door-tools.js';
import { RpcFault } from './rpc-fault.js';
import { isObject } from './rpc-message.js';
import { AWAIT_TOOL } from './served-tool.js';
import type { AnswerTerms } from './tool-answer.js';

/** Every call waits so long for its end before anything is said of waiting: most have ended by then. */
const FIRST_WAIT_MS = 1_000;

/** An action of the caller that is to be answered for: of this request, or of an earlier one. */
export interface AnsweredCall {
  readonly read: ReadAction;
  readonly isReplay: boolean;
  /** How often a client without tasks has come back for it; null if the answer is a tool's that waits anyhow. */
  readonly round: number | null;
  /** The client came to wait, and is refused if it waits too often already. */
  readonly isPoll: boolean;
}

/** What `tools/call` and the methods of tasks do at the gate. */
@Injectable()
export class DoorCalls {
  constructor(
    private readonly calls: GateCalls,
    private readonly reader: ActionReader,
    private readonly tools: DoorTools,
    private readonly commands: CommandBus,
  ) {}

  /**
   * `tools/call`: a call at the gate, the way back to an earlier one, or the tool that waits.
   * @throws {RpcFault} -32602; nothing was recorded
   * @throws {DomainError} as POST /v1/actions does; nothing was recorded
   */
  async call(request: ClientRequest, door: Door, exchange: Exchange): Promise<AnsweredCall> {
    const { name, arguments: args = {}, requestState } = request.params;
    if (typeof name !== 'string') throw invalid('params.name must be the name of a tool.');
    if (!isObject(args)) throw invalid('params.arguments must be an object where it is sent.');
    if (name === AWAIT_TOOL) return this.awaited(args, exchange);
    const words = callerWords(request.meta, exchange);
    const tool = await this.tools.qualifiedName(door, name, agentOf(exchange));
    if (requestState !== undefined) return this.resumed(requestState, { tool, args, words }, exchange);
    const asked = { ...ASKED, ...words, tool, args };
    const submitted = await this.calls.submit(asked, exchange);
    const read = await this.calls.answerable(submitted, FIRST_WAIT_MS, exchange);
    await failpoint('gate.reply');
    if (isUnrun(read.action)) requireSealed(read.deed, words.idempotencyKey !== null);
    return { read, isReplay: submitted.isReplay, round: 0, isPoll: false };
  }

  /** `tasks/get`, and before the other methods of tasks. The action is the task, and nothing else is stored of it. */
  async task({ params }: ClientRequest, exchange: Exchange): Promise<ReadAction> {
    const { taskId } = params;
    const read = typeof taskId === 'string' ? await this.own(taskId, exchange) : null;
    if (read === null) throw invalid('There is no task of this id that this agent began.');
    return read;
  }

  /** `tasks/cancel`: withdraws what still waits for a person. What has begun goes on: a flaky line is no reason to stop it. */
  async cancel(request: ClientRequest, exchange: Exchange): Promise<void> {
    const { action, deed } = await this.task(request, exchange);
    if (statusOf(action, deed !== null) !== 'pending_approval') return;
    try {
      await this.commands.execute(new CancelAction(action.submission.action, exchange.commandMetadata()));
    } catch (error) {
      // It was decided in this moment: the request is acknowledged all the same.
      if (!(error instanceof DomainError && error.code === 'conflict')) throw error;
    }
  }

  private async awaited({ action, ...others }: JsonObject, exchange: Exchange): Promise<AnsweredCall> {
    const isAlone = Object.keys(others).length === 0;
    const read = isAlone && typeof action === 'string' ? await this.own(action, exchange) : null;
    if (read === null) {
      throw invalid(`${AWAIT_TOOL} takes {"action"}: the id of an action that this agent began.`);
    }
    return { read, isReplay: true, round: null, isPoll: true };
  }

  /**
   * The state is the client's to send, so it is trusted in nothing: the action must be the caller's own, and of this very
   * call. Whoever writes it anew gets no further than with {@link AWAIT_TOOL}.
   */
  private async resumed(
    state: unknown,
    { tool, args, words }: { readonly tool: string; readonly args: JsonObject; readonly words: CallerWords },
    exchange: Exchange,
  ): Promise<AnsweredCall> {
    const [, id, round] = (typeof state === 'string' ? STATE.exec(state) : null) ?? [];
    const read = id === undefined ? null : await this.own(id, exchange);
    const request = { ...ASKED, ...words, tool, args };
    if (read === null || !isSameCall(read.action.submission, request)) {
      throw invalid('params.requestState is not of this call. Send the call without it.');
    }
    return { read, isReplay: true, round: Number(round), isPoll: true };
  }

  private async own(text: string, exchange: Exchange): Promise<ReadAction | null> {
    await exchange.confirmCaller();
    const { org, agent } = agentOf(exchange);
    const id = parseId('act', text);
    const read = id && (await this.reader.read(id, org));
    if (!read || read.action.submission.agent !== agent) return null;
    exchange.actionId = read.action.submission.action;
    return read;
  }
}

const ASKED = { mode: 'gateway', connectorType: null, intent: [], origin: 'mcp' } as const;

/** `act_…:<round>`, as {@link stateOf} writes it. */
const STATE = /^(act_[0-9a-z]+):([0-9])$/;

/** What a client of the modern revision sends with the next try of a call that still waits. */
export const stateOf = ({ action }: ReadAction, round: number): string => `${action.submission.action}:${round}`;

export const termsOf = ({ isModern }: ClientRequest, { isReplay }: Pick<AnsweredCall, 'isReplay'>): AnswerTerms => ({
  isModern,
  isReplay,
});

/** @throws {DomainError} insufficient_scope */
export const agentOf = ({ caller }: Exchange) => {
  if (caller.kind !== 'agent') throw new DomainError('insufficient_scope');
  return caller;
};

const invalid = (message: string): RpcFault => new RpcFault(RPC_CODE.invalidParams, message);
