import { DomainError } from '#libs/domain/kernel';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { firstValueFrom, type Observable, of } from 'rxjs';
import { exchangeOf } from './exchange.js';
import { IdempotentAnswers } from './idempotent-answers.js';
import { takeRequest } from './take-request.js';
import { withinTime } from './time-limit.js';

/**
 * What stands around every handler, from the outside in. It is one interceptor because the order is the point, and
 * because each further one costs every call three observables.
 */
@Injectable()
export class HandlingInterceptor implements NestInterceptor {
  constructor(private readonly idempotentAnswers: IdempotentAnswers) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const exchange = exchangeOf(request.raw);
    const { route } = exchange;
    if (route === null) throw new DomainError('not_found');
    // What it refuses was never claimed under an idempotency key: a request refused before its handler ran is not
    // stored (rule API-10).
    await takeRequest(request, exchange, route);
    // The 504 of a handler that takes too long is what is stored under the key; a later result does not take its place.
    const handle = () => withinTime(route.timeoutMs, firstValueFrom(next.handle(), { defaultValue: undefined }));
    const answer = await this.idempotentAnswers.answerOnce(exchange, route, http.getResponse<FastifyReply>(), handle);
    // Whatever the handler did: a caller whom it did not have confirmed is confirmed before anything is answered.
    if (!exchange.isCallerConfirmed) await exchange.confirmCaller();
    return of(answer);
  }
}
