import type { FastifyRequest } from 'fastify';
import { bodyWithoutArguments } from './arguments-fault.js';
import { readBody } from './body-reader.js';
import { announcesBody } from './edge-response.js';
import type { Exchange } from './exchange.js';
import { parseJsonBody } from './json-body.js';
import { takeQuery } from './query-shape.js';
import { parseQuery } from './query-string.js';
import type { RouteEntry } from './route-table.js';
import { judgeShape, takeShape } from './shape.js';
import { isTextBody } from './transport-checks.js';

/**
 * The last checks before a handler: body size, strict JSON, shape. What it has read it leaves where Nest takes the
 * handler's parameters from.
 * @throws {DomainError}
 */
export const takeRequest = async (request: FastifyRequest, exchange: Exchange, route: RouteEntry): Promise<void> => {
  if (announcesBody(request.raw)) {
    // To ask the client for its body is an answer too, so the caller is confirmed first.
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
  if (route.method === 'GET' || route.method === 'DELETE' || route.rawBody) return undefined;
  if (route.textBody && isTextBody(exchange)) return undefined;
  const shape = route.bodyShape ?? NoFields;
  // Where no field is required, no body means the same as the empty object. Elsewhere no body is not JSON.
  const isLeftOut = exchange.body.byteLength === 0 && judgeShape(shape, {}).problems.length === 0;
  if (isLeftOut) return takeShape(shape, {});
  const parsed = await parseJsonBody(exchange.body, route.maxBodyBytes).catch((error: unknown) =>
    bodyWithoutArguments(error, exchange, route),
  );
  return takeShape(shape, parsed);
};

/** A route without fields takes no body, or the empty object that many clients always send. */
class NoFields {}
