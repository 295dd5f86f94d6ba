import { DomainError } from '#libs/domain/kernel';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { mergeMap, type Observable } from 'rxjs';
import { readBody } from './body-reader.js';
import { announcesBody } from './edge-response.js';
import { type Exchange, exchangeOf } from './exchange.js';
import { parseJsonBody } from './json-body.js';
import { takeQuery } from './query-shape.js';
import { parseQuery } from './query-string.js';
import type { RouteEntry } from './route-table.js';
import { judgeShape, takeShape } from './shape.js';

/**
 * The last checks before a handler: body size, strict JSON, shape. First of the interceptors, so that what it refuses was
 * never claimed under an idempotency key (document 1: a request refused before its handler ran is not stored).
 */
@Injectable()
export class ShapeInterceptor implements NestInterceptor {
  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const exchange = exchangeOf(request.raw);
    const route = exchange.route;
    if (route === null) throw new DomainError('not_found');
    if (announcesBody(request.raw)) {
      // To go on with the body is an answer too.
      if (exchange.awaitsContinue) await exchange.confirmCaller();
      exchange.body = await readBody(exchange, route);
      // A body may trickle in for longer than a revocation may take.
      await exchange.stillAllowedIfOld();
    }
    // Nest reads the parameters of a handler from here, after the interceptors.
    request.body = await takeBody(exchange, route);
    if (route.queryShape !== null || route.unknownQuery === 'refused') {
      request.query = takeQuery(parseQuery(request.raw.url ?? ''), route);
    }
    if (exchange.isCallerConfirmed) return next.handle();
    return next.handle().pipe(mergeMap((answer) => confirmed(answer, exchange)));
  }
}

/** Nothing is answered to a caller whom the handler did not have confirmed, whatever it did. */
const confirmed = async (answer: unknown, exchange: Exchange): Promise<unknown> => {
  await exchange.confirmCaller();
  return answer;
};

const takeBody = async (exchange: Exchange, route: RouteEntry): Promise<object | undefined> => {
  if (route.method === 'GET' || route.method === 'DELETE') return undefined;
  const shape = route.bodyShape ?? NoFields;
  // Where nothing is required, no body says the same as the empty object; elsewhere it is no JSON.
  const isLeftOut = exchange.body.byteLength === 0 && judgeShape(shape, {}).problems.length === 0;
  return takeShape(shape, isLeftOut ? {} : await parseJsonBody(exchange.body, route.maxBodyBytes));
};

/** A route without fields takes no body, or the empty object that many clients always send. */
class NoFields {}
