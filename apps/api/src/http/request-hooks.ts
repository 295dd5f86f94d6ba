import type { FastifyReply, FastifyRequest } from 'fastify';
import { clientAddress } from './client-address.js';
import { ShuttingDown } from './drain.js';
import { type Exchange, exchangeOf } from './exchange.js';
import type { EdgeParts } from './edge-parts.js';
import { HEALTH_PATTERN } from './route-table.js';
import { sendAnswer } from './send-answer.js';
import { checkDeclaredBody, checkMessage } from './transport-checks.js';

/**
 * What is judged before anybody asks who is calling, in the order of rule API-6: the message, the route (404, 405), the
 * content type (415), the declared size (413). Nothing here authenticates, and nothing here reads a body.
 */
export const judgeArrival = (
  edge: EdgeParts,
  request: FastifyRequest,
  reply: FastifyReply,
  proceed: () => void,
): void => {
  const exchange = exchangeOf(request.raw);
  exchange.ip = clientAddress(request.ip);
  try {
    checkMessage(exchange);
    exchange.route = routeOf(edge, request);
    refuseWhileDraining(edge, exchange);
    if (exchange.route === null) throw edge.answers.unrouted(exchange.path, request.method);
    checkDeclaredBody(exchange, exchange.route);
  } catch (error) {
    edge.failures.write(edge.answers.understand(error, exchange), exchange);
    sendAnswer(reply, edge.answers.answerFor(error, exchange));
    return;
  }
  proceed();
};

/** The router could not even read the path (broken percent-encoding): there is no such endpoint. */
export const answerUnrouted = (edge: EdgeParts, request: FastifyRequest, reply: FastifyReply): void => {
  const exchange = exchangeOf(request.raw);
  sendAnswer(reply, edge.answers.answerFor(edge.answers.unrouted(exchange.path, request.method), exchange));
};

const routeOf = (edge: EdgeParts, request: FastifyRequest): ReturnType<typeof edge.routes.find> => {
  const pattern = request.routeOptions.url;
  // The router matches `/v1/agents//keys` with an empty id; such a path is not the route's.
  const parameters = (request.params ?? {}) as Record<string, string>;
  if (request.is404 || pattern === undefined || Object.values(parameters).includes('')) return null;
  const route = edge.routes.find(request.method, pattern);
  return route?.has(parameters) === true ? route : null;
};

const refuseWhileDraining = (edge: EdgeParts, exchange: Exchange): void => {
  if (edge.drain.isRefusing && exchange.route?.pattern !== HEALTH_PATTERN) throw new ShuttingDown();
};
