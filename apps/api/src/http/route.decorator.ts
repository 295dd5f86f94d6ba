import { SetMetadata } from '@nestjs/common';
import type { Role } from '#libs/domain/people';
import type { Scope } from './authenticator.port.js';

/** What a route takes: nothing, an agent's API key, a person's session, or a session as well as any key. */
export type AuthKind = 'public' | 'agent_key' | 'session' | 'session_or_key';

/** What every route declares. Start-up fails when one does not (docs/add-an-endpoint.md). */
export interface RouteOptions {
  readonly auth: AuthKind;
  /** Scopes that an agent key needs, all of them. An org admin key counts as Admin and needs none (rule KEY-6). */
  readonly scopes?: readonly Scope[];
  /**
   * The lowest role of a person who may call it; an org admin key counts as Admin (rule PEOPLE-1). Every route that
   * takes a session declares one: start-up fails without it.
   */
  readonly role?: Role;
  /** A public route that changes what a browser is signed in as: only its own pages may send it (rule PEOPLE-10). */
  readonly sameOrigin?: boolean;
  /** A control-plane route: agent keys get 403 `insufficient_scope`, reads included. */
  readonly admin?: boolean;
  /** What an agent uses in its stead, as a sentence: said to its key, which is refused here. */
  readonly agentsInstead?: string;
  /** The API version that introduced the route: `x-service-since`. */
  readonly since: string;
  /** Bytes a body may have; more is 413. Default {@link DEFAULT_MAX_BODY_BYTES}. */
  readonly maxBodyBytes?: number;
  /** What to do about a body that is larger, as a sentence. Default: to send less. */
  readonly largeBodyAdvice?: string;
  /** A ledger list: `limit` defaults to 25 and unknown query parameters are refused (rule API-8). */
  readonly ledgerList?: boolean;
  /**
   * `refused` on a route that is no ledger list and whose answer a mistyped parameter would change unseen. Default
   * `ignored`.
   */
  readonly unknownQuery?: 'ignored' | 'refused';
  /** `Service-Version` is neither read nor judged. */
  readonly unversioned?: boolean;
  /** Default: `generic` on POST, `none` elsewhere and on public routes. `gate` is `POST /v1/actions`, which has rules of its own. */
  readonly idempotency?: 'generic' | 'gate' | 'none';
  /**
   * `recorded`: the handler itself records and seals a stopped agent's attempt, then refuses it. `heard`: what a stopped
   * agent has to say is taken, as of what it did before. Default `refuses`.
   */
  readonly stop?: 'refuses' | 'recorded' | 'heard';
  /**
   * Who has the caller confirmed. `handler`: the guard may let the caller in by what this process remembers, and the
   * log confirms the caller when the handler appends. Default `guard`.
   */
  readonly confirms?: 'guard' | 'handler';
  /**
   * What a strict parser refuses within the member `args` alone is told as check 11 of the signed intent, if the checks
   * before it pass (rule INTENT-6): the handler judges, and answers with {@link Exchange.argumentsFault} where nothing
   * else is wrong. `judged_if_signed`: only with the header `Service-Intent`. Default `refused`.
   */
  readonly argumentFaults?: 'refused' | 'judged' | 'judged_if_signed';
  /** The handler reads the body, whose form is another protocol's: it is bounded, and otherwise left as it was sent. */
  readonly rawBody?: boolean;
  /** Beside JSON it takes `text/plain`, which is bounded, and otherwise left to the handler as it was sent. */
  readonly textBody?: boolean;
  /** A resource of RFC 9728: the challenge of a refusal names where its metadata is. */
  readonly isProtectedResource?: boolean;
  /** A page that people open in a browser: what is refused is a page too, and who is not signed in is sent to /login. */
  readonly page?: boolean;
  /** Which of the paths that the pattern matches there are, by their parameters. Default: all. Judged as the path itself is. */
  readonly has?: (parameters: Readonly<Record<string, string>>) => boolean;
  /** The handler's time; then 504 `timeout`. Default {@link DEFAULT_TIMEOUT_MS}. */
  readonly timeoutMs?: number;
}

export const DEFAULT_MAX_BODY_BYTES = 65_536;
export const DEFAULT_TIMEOUT_MS = 30_000;

export const ROUTE_METADATA = 'service:route';

/** Declares who may call a route and how. Stands beside Nest's `@Get()`, `@Post()` and their kin. */
export const Route = (options: RouteOptions): MethodDecorator => SetMetadata(ROUTE_METADATA, options);
