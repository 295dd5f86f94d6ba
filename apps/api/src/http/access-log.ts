import type { Logger } from '#libs/domain/kernel';
import type { Exchange } from './exchange.js';

const MAX_PATH_CHARACTERS = 200;
const MAX_USER_AGENT_BYTES = 128;
const CLIENT_REQUEST_ID = /^[\x20-\x7e]{1,64}$/;
const NOT_PRINTABLE = /[^\x20-\x7e]/g;

/** Status of an answer that the client did not wait for (rule OPS-1). */
export const STATUS_ABORTED = 499;

/**
 * One line a request, always with the same fields in the same order, empty where they do not apply (rule OPS-1). The
 * last is the trace that the caller named.
 */
export class AccessLog {
  constructor(private readonly logger: Logger) {}

  /** A request of which not even the request line could be read. */
  writeUnreadable(answered: { requestId: string; version: string; status: number; answer: string; ip: string }): void {
    this.logger.info('request', {
      request_id: answered.requestId,
      method: '',
      route: 'unmatched',
      path: '',
      status: answered.status,
      bytes: Buffer.byteLength(answered.answer),
      duration_ms: 0,
      ip: printable(answered.ip),
      org_id: '',
      agent_id: '',
      action_id: '',
      api_version: answered.version,
      idempotent_replay: '',
      client_request_id: '',
      user_agent: '',
      trace_id: '',
    });
  }

  write(
    exchange: Exchange,
    answered: { readonly status: number; readonly bytes: number; readonly durationMs: number },
  ): void {
    const { request, principal } = exchange;
    this.logger.info('request', {
      request_id: exchange.requestId,
      method: request.method ?? '',
      route: exchange.route?.template ?? 'unmatched',
      path: printable(exchange.path.slice(0, MAX_PATH_CHARACTERS)),
      status: answered.status,
      bytes: answered.bytes,
      duration_ms: Math.round(answered.durationMs * 1_000) / 1_000,
      ip: printable(exchange.ip),
      org_id: principal?.org ?? '',
      agent_id: principal?.kind === 'agent' ? principal.agent : '',
      action_id: exchange.actionId,
      api_version: exchange.apiVersion,
      idempotent_replay: exchange.isIdempotentReplay ? true : '',
      client_request_id: clientRequestIdOf(exchange),
      // Node reads header bytes as Latin-1, so a character is a byte.
      user_agent: printable((exchange.headerValues('User-Agent')[0] ?? '').slice(0, MAX_USER_AGENT_BYTES)),
      trace_id: exchange.trace?.id ?? '',
    });
  }
}

const printable = (text: string): string => text.replace(NOT_PRINTABLE, '?');

const clientRequestIdOf = (exchange: Exchange): string => {
  const values = exchange.headerValues('X-Request-Id');
  return values.length === 1 && CLIENT_REQUEST_ID.test(values[0] as string) ? (values[0] as string) : '';
};
