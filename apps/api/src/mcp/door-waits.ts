import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import { statusOf } from '#libs/domain/gate';
import { MCP_META } from '#libs/domain/kernel';
import type { ReadAction } from '../gate/action-reader.js';
import { AwaitAction } from '../gate/await-action.js';
import { LongPolls } from '../gate/long-polls.js';
import type { Exchange } from '../http/exchange.js';
import { WAIT_MAX_S } from '../gate/submit-action.dto.js';
import type { ClientRequest } from './client-request.js';
import { agentOf, type AnsweredCall, stateOf, termsOf } from './door-calls.js';
import { DoorParts } from './door-parts.js';
import { DoorTools } from './door-tools.js';
import { RpcFault } from './rpc-fault.js';
import { envelopeFault, faultReply, notification, resultReply } from './rpc-reply.js';
import { SseAnswer } from './sse-answer.js';
import { SERVER_INFO, ToolAnswers } from './tool-answer.js';

/** Without progress: SDKs and hosts give a request up after 60 s. */
const WAIT_MS = WAIT_MAX_S * 1_000;
/** With it: each message of progress resets the clocks of hosts that asked for it. */
const WAIT_WITH_PROGRESS_MS = 50_000;
const PROGRESS_EVERY_MS = 10_000;
/** How often a client may come back with a state before it is told in words to wait: SDKs follow ten rounds. */
const ROUNDS_MAX = 8;
const TASK_POLL_MS = 2_000;

/** How a call is answered that has not ended at once: as a task, after a wait, with another round, or with words (rule MCP-5). */
@Injectable()
export class DoorWaits {
  constructor(
    private readonly waiting: AwaitAction,
    private readonly polls: LongPolls,
    private readonly answers: ToolAnswers,
    private readonly tools: DoorTools,
    private readonly parts: DoorParts,
  ) {}

  /** The text of the reply; null where it was written as a stream. */
  async reply(
    request: ClientRequest,
    call: AnsweredCall,
    { exchange, reply }: { readonly exchange: Exchange; readonly reply: FastifyReply },
  ): Promise<string | null> {
    const { id } = request;
    if (call.read.deed !== null) return resultReply(id, await this.answers.ended(call.read, termsOf(request, call)));
    if (request.hasTasks && call.round !== null) return resultReply(id, taskResult(call.read));
    // A call that was recorded is answered in any case, if need be with how to wait for it later.
    if (!call.isPoll && !this.polls.hasRoomFor(exchange.principalRef)) {
      return resultReply(id, await this.resultOf(request, call));
    }
    return this.polls.hold(exchange.principalRef, () => this.waited(request, call, exchange, reply));
  }

  /** `tasks/get`. */
  async taskText(request: ClientRequest, read: ReadAction): Promise<string> {
    const status = statusOf(read.action, read.deed !== null);
    if (read.deed === null) return JSON.stringify({ ...taskOf(read), status: 'working', resultType: 'complete' });
    if (status === 'cancelled') {
      return JSON.stringify({ ...taskOf(read), status: 'cancelled', resultType: 'complete' });
    }
    const task = { ...taskOf(read), resultType: 'complete' };
    try {
      const result = await this.answers.ended(read, termsOf(request, { isReplay: true }));
      return `${JSON.stringify({ ...task, status: 'completed' }).slice(0, -1)},"result":${result}}`;
    } catch (error) {
      if (!(error instanceof RpcFault)) throw error;
      const { code, message, data } = error;
      return JSON.stringify({
        ...task,
        status: 'failed',
        error: { code, message, ...(data === undefined ? {} : { data }) },
      });
    }
  }

  private async waited(
    request: ClientRequest,
    call: AnsweredCall,
    exchange: Exchange,
    reply: FastifyReply,
  ): Promise<string | null> {
    const { progressToken, id } = request;
    if (progressToken !== null && SseAnswer.isTakenBy(exchange)) {
      await exchange.confirmCaller();
      await this.withProgress(request, call, exchange, SseAnswer.begin(exchange, reply));
      return null;
    }
    const read = await this.wait(call.read, WAIT_MS, exchange);
    return resultReply(id, await this.resultOf(request, { ...call, read }));
  }

  /** An answer that has begun ends with a message, whatever happens. */
  private async withProgress(
    request: ClientRequest,
    call: AnsweredCall,
    exchange: Exchange,
    stream: SseAnswer,
  ): Promise<void> {
    try {
      const read = await this.waitTelling(request, call.read, exchange, stream);
      stream.send(resultReply(request.id, await this.resultOf(request, { ...call, read })));
    } catch (error) {
      stream.send(faultReply(request.id, this.faultOf(error, exchange)));
    } finally {
      stream.end();
    }
  }

  private async waitTelling(
    { progressToken }: ClientRequest,
    first: ReadAction,
    exchange: Exchange,
    stream: SseAnswer,
  ): Promise<ReadAction> {
    const startMs = this.parts.clock.monotonicMs();
    let read = first;
    for (let progress = 1; ; progress += 1) {
      const message = progressOf(read);
      stream.send(notification('notifications/progress', { progressToken, progress, message }));
      const leftMs = WAIT_WITH_PROGRESS_MS - (this.parts.clock.monotonicMs() - startMs);
      read = await this.wait(read, Math.min(leftMs, PROGRESS_EVERY_MS), exchange);
      if (read.deed !== null || leftMs <= PROGRESS_EVERY_MS || exchange.waitingOver.aborted) return read;
    }
  }

  /** Ends early by a Stop or the end of the key; the action goes on, as a flaky line must not withdraw what people read. */
  private async wait(known: ReadAction, waitMs: number, exchange: Exchange): Promise<ReadAction> {
    const agent = agentOf(exchange);
    const caller = { org: agent.org, stillAllowed: () => exchange.stillAllowedIfOld() };
    const patience = { waitMs, ended: exchange.waitingOver };
    const id = known.action.submission.action;
    const read = await this.waiting.sealed(id, caller, patience, () => this.tools.requireRunning(agent));
    return read ?? known;
  }

  private async resultOf(request: ClientRequest, call: AnsweredCall): Promise<string> {
    const { read, round } = call;
    const terms = termsOf(request, call);
    if (read.deed !== null) return this.answers.ended(read, terms);
    if (!request.isModern || round === null || round >= ROUNDS_MAX) return this.answers.waiting(read, terms);
    const meta = { [`${MCP_META}/serverInfo`]: SERVER_INFO };
    return JSON.stringify({ resultType: 'input_required', requestState: stateOf(read, round + 1), _meta: meta });
  }

  private faultOf(error: unknown, exchange: Exchange): RpcFault {
    if (error instanceof RpcFault) return error;
    const { errors } = this.parts;
    const known = errors.understand(error, exchange);
    return envelopeFault(known, JSON.parse(errors.answerFor(known, exchange).body) as JsonObject);
  }
}

const progressOf = ({ action, deed }: ReadAction): string => {
  if (deed !== null) return 'The call has ended.';
  return statusOf(action, false) === 'pending_approval' ? 'A person is asked to approve this call.' : 'The call runs.';
};

/** The action is the task: whoever has its id finds it on any instance, also after a restart. */
const taskOf = (read: ReadAction): JsonObject => ({
  taskId: read.action.submission.action,
  statusMessage: progressOf(read),
  createdAt: read.action.createdAt,
  lastUpdatedAt: read.action.outcome?.finished_at ?? read.action.decidedAt ?? read.action.createdAt,
  ttlMs: null,
  pollIntervalMs: TASK_POLL_MS,
  _meta: { [`${MCP_META}/serverInfo`]: SERVER_INFO },
});

const taskResult = (read: ReadAction): string =>
  JSON.stringify({ ...taskOf(read), status: 'working', resultType: 'task' });
