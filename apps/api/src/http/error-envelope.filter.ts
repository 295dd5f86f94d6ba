import { type ArgumentsHost, Catch, type ExceptionFilter, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { StoreUnavailable } from '#libs/domain/kernel';
import { ErrorAnswers } from './error-answers.js';
import { type Exchange, exchangeOf } from './exchange.js';
import { FailureLog } from './failure-log.js';
import { sendAnswer } from './send-answer.js';

/**
 * Turns everything that was thrown into the envelope. Details go to the log; a body never holds a stack (rule API-3).
 */
@Catch()
@Injectable()
export class ErrorEnvelopeFilter implements ExceptionFilter {
  constructor(
    private readonly answers: ErrorAnswers,
    private readonly failures: FailureLog,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const reply = http.getResponse<FastifyReply>();
    const exchange = exchangeOf(http.getRequest<FastifyRequest>().raw);
    // A store that is away cannot say who the caller is, and the answer that it is away tells the caller nothing.
    if (exchange.isCallerConfirmed || thrown instanceof StoreUnavailable) this.answer(thrown, exchange, reply);
    else void this.answerConfirmed(thrown, exchange, reply);
  }

  /** Never rejects: nobody would hear of it. */
  private async answerConfirmed(thrown: unknown, exchange: Exchange, reply: FastifyReply): Promise<void> {
    try {
      this.answer(await this.dueTo(thrown, exchange), exchange, reply);
    } catch (error) {
      if (reply.sent || reply.raw.headersSent) reply.raw.destroy();
      else void reply.send(error);
    }
  }

  /** If the caller is refused, that refusal takes the place of what was thrown. */
  private async dueTo(thrown: unknown, exchange: Exchange): Promise<unknown> {
    try {
      await exchange.confirmCaller();
      return thrown;
    } catch (refusal) {
      // The caller is told something else, but a defect is still logged.
      const failure = this.answers.understand(thrown, exchange);
      if (failure.code === 'internal_error') this.failures.write(failure, exchange);
      return refusal;
    }
  }

  private answer(thrown: unknown, exchange: Exchange, reply: FastifyReply): void {
    this.failures.write(this.answers.understand(thrown, exchange), exchange);
    if (reply.sent || reply.raw.headersSent) {
      // A stream failed on its way: an answer cut short must not look like a whole one.
      reply.raw.destroy();
      return;
    }
    sendAnswer(reply, this.answers.answerFor(thrown, exchange));
  }
}
