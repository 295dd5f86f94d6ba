import { INTENT_HEADER, type JsonObject, type JsonValue, StrictJsonError } from '#libs/crypto';
import { DomainError } from '#libs/domain/kernel';
import type { Exchange } from './exchange.js';
import type { ArgumentsFault } from './json-body.js';
import type { RouteEntry } from './route-table.js';

const isArgumentsFault = (error: unknown): error is ArgumentsFault =>
  error instanceof DomainError && error.cause instanceof StrictJsonError && error.cause.path[0] === 'args';

/**
 * The body without its arguments, where those alone are at fault and the route's handler judges them. What is read here
 * is never run: every way on ends in a refusal, so that the lenient parser decides nothing but which one.
 * @throws {unknown} what was thrown, in every other case
 */
export const bodyWithoutArguments = (thrown: unknown, exchange: Exchange, route: RouteEntry): JsonObject => {
  const { argumentFaults } = route;
  const isJudged =
    argumentFaults === 'judged' ||
    (argumentFaults === 'judged_if_signed' && exchange.headerValues(INTENT_HEADER).length > 0);
  if (!isJudged || !isArgumentsFault(thrown)) throw thrown;
  const body = leniently(exchange.body);
  if (body === null || typeof body !== 'object' || Array.isArray(body)) throw thrown;
  exchange.argumentsFault = thrown;
  return { ...body, args: {} };
};

/** Null for what is no JSON even to it. */
const leniently = (bytes: Uint8Array): JsonValue => {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as JsonValue;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return null;
    throw error;
  }
};
