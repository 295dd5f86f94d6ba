import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { exchangeOf } from './exchange.js';

/** The proven {@link Principal}. Only on routes that are not public. */
export const Caller = createParamDecorator(
  (_: unknown, context: ExecutionContext) => exchangeOf(context.switchToHttp().getRequest<FastifyRequest>().raw).caller,
);

/** The whole {@link Exchange}: command metadata, references, the body's bytes, the client's leaving. */
export const RequestContext = createParamDecorator((_: unknown, context: ExecutionContext) =>
  exchangeOf(context.switchToHttp().getRequest<FastifyRequest>().raw),
);
