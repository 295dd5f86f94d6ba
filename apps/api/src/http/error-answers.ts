import type { JsonObject } from '#libs/crypto';
import {
  AppendTooLarge,
  DomainError,
  ERROR_CATALOGUE,
  type ErrorCode,
  RevisionConflict,
  StoreUnavailable,
  UnknownEventType,
} from '#libs/domain/kernel';
import { HttpException, NotFoundException } from '@nestjs/common';
import { isConsolePath } from '../console/console-paths.js';
import { pageAnswerTo } from '../console/page-answers.js';
import type { Exchange } from './exchange.js';
import type { RouteEntry, RouteTable } from './route-table.js';
import { scopesNeeded } from './scope-refusal.js';

/** An answer that is ready to be written. Header names are as on the wire. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const JSON_CONTENT_TYPE = 'application/json; charset=utf-8';

/** These members of the envelope, on these codes and nowhere else (rule API-1). */
const EXTRA_MEMBERS: Readonly<Record<string, (code: ErrorCode) => boolean>> = {
  diagnostics: (code) => code === 'policy_invalid',
  checks: (code) => code === 'undo_unavailable',
  // Which of the thirteen checks of a signed intent refused it (rule INTENT-2).
  reason: (code) => code === 'intent_invalid' || code === 'intent_replay',
  action: () => true,
};

/** Codes whose answer says when to come again even where the thrower did not. */
const DEFAULT_RETRY_AFTER_SECONDS: Partial<Record<ErrorCode, number>> = {
  idempotency_key_in_use: 1,
  rate_limited: 1,
  service_unavailable: 1,
};

/** RFC 9728, section 3: before the path of the resource. */
export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource';
/** A path that can stand in a header as it is. */
const RESOURCE_PATH = /^(?:\/[a-z0-9-]+)+$/;

const BEARER = 'Bearer realm="service"';

/** RFC 6750, section 3: what was wrong with the token. Other 401 codes get the bare challenge (rule KEY-9). */
const TOKEN_FAULTS: Partial<Record<ErrorCode, string>> = {
  invalid_api_key: 'The API key is not valid',
  api_key_revoked: 'The API key was revoked',
  api_key_expired: 'The API key was rolled and its overlap has ended',
};

/** The one place that writes error envelopes. */
export class ErrorAnswers {
  constructor(
    private readonly docsUrl: () => string,
    private readonly routes: RouteTable,
    private readonly baseUrl: () => string,
  ) {}

  /**
   * The answer to whatever was thrown. An error that it does not know becomes `internal_error`, and nothing of that
   * error reaches the body.
   */
  answerFor(error: unknown, exchange: Exchange): Answer {
    const known = this.understand(error, exchange);
    const answer = this.render(known, exchange.requestId, exchange.route, {
      ...allowOf(error),
      ...this.metadataFor(known.code, exchange),
    });
    if (!(exchange.route?.page ?? isConsolePath(exchange.path))) return answer;
    const { method = '', url: target = '' } = exchange.request;
    const shown = pageAnswerTo(known, { method, target, requestId: exchange.requestId });
    // When to come again and which methods there are is said in the same headers; who to be is said by /login.
    const headers = Object.entries(answer.headers).filter(([name]) => name === 'Retry-After' || name === 'Allow');
    return { ...shown, headers: { ...Object.fromEntries(headers), ...shown.headers } };
  }

  /**
   * The challenge of a protected resource (RFC 9728, section 5.1), in the place of the bare one: clients of MCP go on from
   * its address, which must be absolute.
   */
  private metadataFor(code: ErrorCode, { route, path }: Exchange): Readonly<Record<string, string>> {
    const challenge = route?.isProtectedResource === true ? challengeOf(code, route) : null;
    if (route === null || challenge === null) return {};
    const [resource] = RESOURCE_PATH.exec(path) ?? [''];
    const metadata = `resource_metadata="${this.baseUrl()}${RESOURCE_METADATA_PATH}${resource}"`;
    const scope = challenge.includes('scope=') ? '' : `, scope="${route.scopes.join(' ')}"`;
    return { 'WWW-Authenticate': `${challenge}, ${metadata}${scope}` };
  }

  /** Translates what the edge, the framework and the adapters throw into the catalogue. */
  understand(error: unknown, exchange: Exchange): DomainError {
    if (error instanceof DomainError) return error;
    if (error instanceof StoreUnavailable) return new DomainError('service_unavailable', { cause: error });
    // An api of the newer version knows this event. This one must not judge anything by half a state.
    if (error instanceof UnknownEventType) return new DomainError('service_unavailable', { cause: error });
    if (error instanceof RevisionConflict) return new DomainError('conflict', { cause: error });
    if (error instanceof AppendTooLarge) {
      const message = 'The change is too large to be recorded. Send less in one request.';
      return new DomainError('request_too_large', { message, cause: error });
    }
    // The router's own refusals: an empty path parameter, a target that is no path.
    if (error instanceof NotFoundException) return this.unrouted(exchange.path, exchange.request.method ?? '');
    if (isRefusedByFramework(error, 415)) return new DomainError('unsupported_media_type', { cause: error });
    return new DomainError('internal_error', { cause: error });
  }

  /** 405 where the path exists with other methods, else 404, with a suggestion where one is close (rule API-4). */
  unrouted(path: string, method: string): DomainError {
    const allowed = this.routes.allowedMethods(path);
    if (allowed.length > 0 && !allowed.includes(method)) return new MethodNotAllowed(allowed);
    const suggestion = this.routes.suggestionFor(path);
    const message = `There is no such endpoint. ${suggestion ? `Did you mean ${suggestion}?` : 'GET /api/openapi.yaml lists all of them.'}`;
    return new DomainError('not_found', { message });
  }

  render(
    error: DomainError,
    requestId: string,
    route: RouteEntry | null,
    headers: Readonly<Record<string, string>> = {},
  ): Answer {
    const { code, param, message } = error;
    const retryAfterSeconds = error.retryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS[code] ?? null;
    const challenge = challengeOf(code, route);
    const { type } = ERROR_CATALOGUE[code];
    const envelope = {
      type,
      code,
      message,
      param,
      request_id: requestId,
      doc_url: `${this.docsUrl()}/errors/${code}`,
      ...extraMembersOf(error),
    };
    return {
      status: error.status,
      headers: {
        'Content-Type': JSON_CONTENT_TYPE,
        ...(retryAfterSeconds === null ? {} : { 'Retry-After': String(retryAfterSeconds) }),
        ...(challenge === null ? {} : { 'WWW-Authenticate': challenge }),
        ...headers,
      },
      body: JSON.stringify({ error: envelope }),
    };
  }
}

/** 405, with the methods that the path does support. */
class MethodNotAllowed extends DomainError {
  constructor(readonly allowed: readonly string[]) {
    super('method_not_allowed');
  }
}

const allowOf = (error: unknown): Record<string, string> =>
  error instanceof MethodNotAllowed ? { Allow: error.allowed.join(', ') } : {};

const challengeOf = (code: ErrorCode, route: RouteEntry | null): string | null => {
  const fault = TOKEN_FAULTS[code];
  if (fault !== undefined) return `${BEARER}, error="invalid_token", error_description="${fault}"`;
  if (code === 'insufficient_scope') {
    const scopes = route === null ? 'admin' : scopesNeeded(route).join(' ');
    return `${BEARER}, error="insufficient_scope", error_description="The key lacks a scope", scope="${scopes}"`;
  }
  return ERROR_CATALOGUE[code].status === 401 ? BEARER : null;
};

const extraMembersOf = ({ code, extra }: DomainError): JsonObject =>
  Object.fromEntries(Object.entries(extra ?? {}).filter(([name]) => EXTRA_MEMBERS[name]?.(code) === true));

/** Fastify refuses a malformed Content-Type by itself; its errors and Nest's carry the status. */
const isRefusedByFramework = (error: unknown, status: number): boolean =>
  (error instanceof HttpException && error.getStatus() === status) ||
  (error instanceof Error && 'statusCode' in error && error.statusCode === status);
