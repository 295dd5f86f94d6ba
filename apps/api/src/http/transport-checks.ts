import type { IncomingMessage } from 'node:http';
import { DomainError } from '#libs/domain/kernel';
import { announcesBody } from './edge-response.js';
import type { Exchange } from './exchange.js';
import type { RouteEntry } from './route-table.js';

/** More headers than any client of ours sends; each costs a comparison in every `sent once` rule. */
const MAX_HEADERS = 100;

const METHODS_WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

// One media type, one parameter, nothing else: a lenient reading has let bodies past the validation of other servers.
// RFC 9110, section 8.3.1 allows spaces around the semicolon and a quoted value.
const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;

const TEXT_TYPE = /^text\/plain[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;

// RFC 9110, section 7.2: a name or an address, and a port.
const HOST = /^(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

/**
 * Judges the message itself, whatever route it is for.
 * @throws {DomainError} 431 request_too_large; 400 validation_failed with `param: Host` or `Transfer-Encoding`
 */
export const checkMessage = (exchange: Exchange): void => {
  const { request } = exchange;
  if (request.rawHeaders.length > 2 * MAX_HEADERS) {
    const message = `The request has more than ${MAX_HEADERS} headers. Send fewer.`;
    throw new DomainError('request_too_large', { status: 431, message });
  }
  checkTransferEncoding(request);
  // RFC 9112, section 3.2: a server must refuse a missing, repeated or malformed Host. HTTP/1.0 knows none.
  const hosts = exchange.headerValues('Host');
  const isMissing = hosts.length === 0 && request.httpVersion === '1.0';
  if (isMissing || (hosts.length === 1 && HOST.test(hosts[0] as string))) return;
  const message = 'Host must be sent once, as a name or an address with an optional port.';
  throw new DomainError('validation_failed', { param: 'Host', message });
};

const checkTransferEncoding = ({ httpVersion, headers }: IncomingMessage): void => {
  const coding = headers['transfer-encoding'];
  if (coding === undefined) return;
  const refuse = (message: string): never => {
    throw new DomainError('validation_failed', { param: 'Transfer-Encoding', message });
  };
  // RFC 9112, section 6.1: HTTP/1.0 knows no chunks, so whoever sends them there has rewritten a message wrongly; and a
  // coding that the server does not undo must be refused, since the bytes are then not the body.
  if (httpVersion === '1.0') refuse('HTTP/1.0 has no Transfer-Encoding. Send the body with a Content-Length.');
  if (coding.toLowerCase() !== 'chunked') refuse('Transfer-Encoding must be chunked and nothing else.');
};

/**
 * Judges what the headers say about the body, before anybody asks who is calling: content type, then declared size.
 * @throws {DomainError} unsupported_media_type, request_too_large
 */
export const checkDeclaredBody = (exchange: Exchange, route: RouteEntry): void => {
  const { request } = exchange;
  if (!METHODS_WITH_BODY.has(request.method ?? '')) {
    // Nothing here reads a body on the other methods, and an unread one is how two parsers come to disagree.
    if (!announcesBody(request)) return;
    const message = 'This method takes no body on this endpoint. Send the request without one.';
    throw new DomainError('request_too_large', { message });
  }
  checkContentType(exchange, route);
  if (declaredBytes(request) > route.maxBodyBytes)
    throw new DomainError('request_too_large', { message: tooLarge(route) });
};

export const tooLarge = (route: RouteEntry): string =>
  `The body is larger than the ${route.maxBodyBytes} bytes that this endpoint takes. ${route.largeBodyAdvice}`;

/** Sent as `text/plain`, once. Only a route that takes text looks at it. */
export const isTextBody = (exchange: Exchange): boolean => {
  const types = exchange.headerValues('Content-Type');
  return types.length === 1 && TEXT_TYPE.test(types[0] as string);
};

const checkContentType = (exchange: Exchange, { textBody }: RouteEntry): void => {
  const types = exchange.headerValues('Content-Type');
  const encodings = exchange.headerValues('Content-Encoding');
  const isEncoded = encodings.some((encoding) => encoding.toLowerCase() !== 'identity');
  const isJson = types.length === 1 && JSON_TYPE.test(types[0] as string);
  const isUntypedNothing = types.length === 0 && !announcesBody(exchange.request);
  if ((isJson || isUntypedNothing || (textBody && isTextBody(exchange))) && !isEncoded) return;
  const message = isEncoded
    ? 'A body with a Content-Encoding is not accepted. Send it as it is.'
    : textBody
      ? 'The body must be JSON or text. Send it with Content-Type: application/json or text/plain, once.'
      : 'The body must be JSON. Send it with Content-Type: application/json, once.';
  throw new DomainError('unsupported_media_type', { message });
};

const declaredBytes = (request: IncomingMessage): number => Number(request.headers['content-length'] ?? 0);
