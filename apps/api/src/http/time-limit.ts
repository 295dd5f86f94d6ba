import { DomainError } from '#libs/domain/kernel';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { type Observable, throwError, timeout } from 'rxjs';
import { exchangeOf } from './exchange.js';
import { DEFAULT_TIMEOUT_MS } from './route.decorator.js';

/**
 * Ends the wait for a handler that runs past its route's time with 504 `timeout`. The handler is not interrupted: its work
 * may have partly run, which is what the code says. Innermost of the interceptors, so that the 504 is what is stored under
 * an idempotency key, and a later result does not take its place.
 */
@Injectable()
export class TimeLimitInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { route } = exchangeOf(context.switchToHttp().getRequest<FastifyRequest>().raw);
    const limitMs = route?.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    return next.handle().pipe(timeout({ first: limitMs, with: () => throwError(() => new DomainError('timeout')) }));
  }
}
