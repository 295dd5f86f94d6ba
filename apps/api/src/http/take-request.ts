import type { FastifyRequest } from 'fastify';
import { readBody } from './body-reader.js';
import { announcesBody } from './edge-response.js';
import type { Exchange } from './exchange.js';
import { parseJsonBody } from './json-body.js';
import { takeQuery } from './query-shape.js';
import { parseQuery } from './query-string.js';
import type { RouteEntry } from './route-table.js';
import { judgeShape, takeShape } from './shape.js';

/**
 * The last checks before a handler: body size, strict JSON, shape. Nest reads the parameters of the handler from where it
 * puts what it has read.
 * @throws {DomainError}
 */
export const takeRequest = async (request: FastifyRequest, exchange: Exchange, route: RouteEntry): Promise<void> => {
  if (announcesBody(request.raw)) {
    // To go on with the body is an answer too.
    if (exchange.awaitsContinue) await exchange.confirmCaller();
    exchange.body = await readBody(exchange, route);
    // A body may trickle in for longer than a revocation may take.
    await exchange.stillAllowedIfOld();
  }
  request.body = await takeBody(exchange, route);
  if (route.queryShape !== null || route.unknownQuery === 'refused') {
    request.query = takeQuery(parseQuery(request.raw.url ?? ''), route);
  }
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
