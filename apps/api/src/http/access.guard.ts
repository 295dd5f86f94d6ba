import { DomainError, ERROR_CATALOGUE } from '#libs/domain/kernel';
import { isAtLeast } from '#libs/domain/people';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { API_VERSION_HEADER, ApiVersions } from './api-versions.js';
import {
  type AuthenticationDemands,
  Authenticator,
  type PersonPrincipal,
  type Principal,
  SessionAuthenticator,
} from './authenticator.port.js';
import { parseAuthorization } from './authorization-header.js';
import { ON_BEHALF_OF_HEADER, parseReference, SESSION_HEADER } from './call-references.js';
import { isChanging, requireCsrfToken, requireOwnSite } from './csrf.js';
import { type Exchange, exchangeOf } from './exchange.js';
import { FailedKeyLimiter } from './failed-key-limiter.js';
import { IDEMPOTENCY_KEY_HEADER, parseIdempotencyKey } from './idempotency-key.js';
import type { RouteEntry } from './route-table.js';
import { insufficientRole, insufficientScope } from './scope-refusal.js';
import { readCookie } from './session-cookies.js';
import { requireOwnOrganization } from './service-org.js';
import { Site } from './site.js';

/**
 * The one guard, on every route, closed by default. It works on the route that was matched, never on the path, so that no
 * spelling of a path goes around it. Its order is part of the interface (docs/api-conventions.md): key or session, scopes or
 * role, references, version, cross-site requests, format of the idempotency key.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly sessions: SessionAuthenticator,
    private readonly limiter: FailedKeyLimiter,
    private readonly versions: ApiVersions,
    private readonly site: Site,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const exchange = exchangeOf(context.switchToHttp().getRequest<FastifyRequest>().raw);
    const route = exchange.route;
    if (route === null) return false;
    if (route.auth !== 'public') await this.identify(exchange, route);
    this.resolveVersion(exchange, route);
    this.judgeOrigin(exchange, route);
    if (route.method === 'POST') {
      // On a public POST the format is checked and the key otherwise ignored (rule API-9).
      const key = parseIdempotencyKey(exchange.headerValues(IDEMPOTENCY_KEY_HEADER));
      if (route.idempotency !== 'none') exchange.idempotencyKey = key;
    }
    return true;
  }

  private async identify(exchange: Exchange, route: RouteEntry): Promise<void> {
    const sent = exchange.headerValues('Authorization');
    // What comes with an Authorization header is judged as a key and never falls back to the cookie (rule KEY-3).
    if (sent.length === 0 && route.auth !== 'agent_key') {
      exchange.principal = await this.person(exchange, route);
      return;
    }
    const key = parseAuthorization(sent);
    exchange.principal = await this.authenticate(key, exchange, route);
    authorize(exchange.principal, route);
    exchange.onBehalfOf = parseReference(ON_BEHALF_OF_HEADER, exchange.headerValues(ON_BEHALF_OF_HEADER));
    exchange.session = parseReference(SESSION_HEADER, exchange.headerValues(SESSION_HEADER));
  }

  private async person(exchange: Exchange, route: RouteEntry): Promise<PersonPrincipal> {
    const token = readCookie(exchange, 'session', this.site);
    if (token === null) throw new DomainError('authentication_required');
    const judge = async (isRequest: boolean): Promise<PersonPrincipal> => {
      const principal = await this.sessions.authenticate(token, isRequest);
      requireOwnOrganization(exchange, principal);
      authorize(principal, route);
      return principal;
    };
    exchange.stillAllowed = async () => void (await judge(false));
    return judge(true);
  }

  /**
   * What a session changes has two proofs; the first is asked also where a browser is about to be signed in
   * (rule PEOPLE-10).
   */
  private judgeOrigin(exchange: Exchange, route: RouteEntry): void {
    const { principal } = exchange;
    const isOfPerson = principal?.kind === 'person' && isChanging(route.method);
    if (isOfPerson || route.sameOrigin) requireOwnSite(exchange, this.site);
    if (isOfPerson) requireCsrfToken(exchange, principal.session.row.csrfHash, this.site);
  }

  private async authenticate(key: string, exchange: Exchange, route: RouteEntry): Promise<Principal> {
    this.limiter.admit(exchange.ip, key);
    // The limiter is not asked and counts nothing here: the guard has already let this caller in, so a later refusal is
    // not held against the caller's address.
    exchange.stillAllowed = async () => void (await this.authenticator.authenticate(key, demandsOf(route, 'ask')));
    if (route.confirms === 'guard') return this.judge(key, exchange, route, 'ask');
    const principal = await this.judge(key, exchange, route, 'remember');
    if (!isRemembered(principal)) return principal;
    if (!isAllowed(principal, route)) return this.judge(key, exchange, route, 'ask');
    exchange.letInUnconfirmed(
      async () => {
        const confirmed = await this.judge(key, exchange, route, 'ask');
        authorize(confirmed, route);
        return confirmed;
      },
      () => this.limiter.countSuccess(key),
    );
    return principal;
  }

  private async judge(key: string, { ip }: Exchange, route: RouteEntry, by: JudgeBy): Promise<Principal> {
    try {
      const principal = await this.authenticator.authenticate(key, demandsOf(route, by));
      if (!isRemembered(principal)) this.limiter.countSuccess(key);
      return principal;
    } catch (error) {
      if (error instanceof DomainError && ERROR_CATALOGUE[error.code].status === 401)
        this.limiter.countFailure(ip, key);
      throw error;
    }
  }

  private resolveVersion(exchange: Exchange, route: RouteEntry): void {
    if (route.unversioned) return;
    const pinned = exchange.principal?.pinnedVersion ?? null;
    exchange.apiVersion = this.versions.resolve(exchange.headerValues(API_VERSION_HEADER), pinned);
    exchange.response.setHeader(API_VERSION_HEADER, exchange.apiVersion);
  }
}

type JudgeBy = 'ask' | 'remember';

const demandsOf = (route: RouteEntry, by: JudgeBy): AuthenticationDemands => ({
  judgeStop: route.stop === 'refuses',
  mayRemember: by === 'remember',
});

const isRemembered = (principal: Principal): boolean =>
  principal.kind === 'agent' && principal.judgedSince === 'remembered';

/** Agent keys have no place on control-plane routes, and an org admin key is no agent but an admin (rule KEY-6). */
const authorize = (principal: Principal, route: RouteEntry): void => {
  if (!isAllowed(principal, route)) throw insufficientScope(principal, route);
  if (principal.kind === 'agent' || route.role === null) return;
  const own = principal.kind === 'person' ? principal.role : 'admin';
  if (!isAtLeast(own, route.role)) throw insufficientRole(own, route.role);
};

const isAllowed = (principal: Principal, route: RouteEntry): boolean => {
  switch (principal.kind) {
    case 'person':
      return true;
    case 'admin_key':
      return route.auth === 'session_or_key';
    case 'agent':
      return (
        route.auth !== 'session' &&
        !route.admin &&
        route.scopes.every((scope) => (principal.scopes as readonly string[]).includes(scope))
      );
  }
};
