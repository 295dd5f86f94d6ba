import { type ArgumentsHost, Catch, type ExceptionFilter, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ErrorAnswers } from './error-answers.js';
import { exchangeOf } from './exchange.js';
import { FailureLog } from './failure-log.js';
import { sendAnswer } from './send-answer.js';

/** Turns everything that was thrown into the envelope. Details go to the log; a body never holds a stack (document 1, Errors 3). */
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
    this.failures.write(this.answers.understand(thrown, exchange), exchange);
    if (reply.sent || reply.raw.headersSent) {
      // A stream failed on its way: an answer cut short must not look like a whole one.
      reply.raw.destroy();
      return;
    }
    sendAnswer(reply, this.answers.answerFor(thrown, exchange));
  }
}
