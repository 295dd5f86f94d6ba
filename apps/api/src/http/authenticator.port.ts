import type { AgentScope } from '#libs/domain/agents';
import type { AgentId, KeyId, OrgId, QuestionNumber, UserId } from '#libs/domain/kernel';
import type { LiveSession, Role } from '#libs/domain/people';

/** What a route may ask of a key: an agent key's scopes, or `admin`, which org admin keys alone have. */
export type Scope = AgentScope | 'admin';

interface OfOrganization {
  readonly org: OrgId;
  /** The API version the organization is pinned to; null when it never pinned one. */
  readonly pinnedVersion: string | null;
}

interface KeyHolder extends OfOrganization {
  readonly key: KeyId;
  /** True for an `svc_live_` key. Recorded, never enforced. */
  readonly livemode: boolean;
}

/** Who is calling, proven. Made by an {@link Authenticator} for this one request; never kept for the next. */
export type Principal =
  | (KeyHolder & {
      readonly kind: 'agent';
      readonly agent: AgentId;
      readonly scopes: readonly AgentScope[];
      /**
       * The last question put to the store before this judgement: whatever a later question covered is as fresh as the
       * judgement. `remembered`: no question was put, and {@link Exchange.confirmCaller} stands before every answer.
       */
      readonly judgedSince: QuestionNumber | 'remembered';
    })
  | (KeyHolder & {
      readonly kind: 'admin_key';
      /** The same for a key and for every key that it was rolled to. */
      readonly lineage: KeyId;
      readonly scopes: readonly ['admin'];
    })
  | PersonPrincipal;

/** A person in a session of the Console, whose role is the one of this very request. */
export type PersonPrincipal = OfOrganization & {
  readonly kind: 'person';
  readonly user: UserId;
  readonly role: Role;
  readonly session: LiveSession;
};

export interface AuthenticationDemands {
  /** False on `POST /v1/actions` alone: there the gate records, seals and then refuses a stopped agent's attempt. */
  readonly judgeStop: boolean;
  /** An agent may be let in by what this process remembers alone: the log confirms it when the handler appends. */
  readonly mayRemember: boolean;
}

/** Judges a key up to the Stop state (rule KEY-2). Scopes are judged by the edge, from the route's declaration. */
export abstract class Authenticator {
  /**
   * @param key the one token of the Authorization header, byte for byte
   * @throws {DomainError} invalid_api_key, api_key_revoked, api_key_expired, agent_stopped, agent_suspended, org_stopped
   * @throws {StoreUnavailable} the key could not be judged; nothing is known about the caller
   */
  abstract authenticate(key: string, demands: AuthenticationDemands): Promise<Principal>;
}

/** Judges a session: cookie, its times, the person's membership as it is now (rule PEOPLE-2). */
export abstract class SessionAuthenticator {
  /**
   * @param token the session cookie's value, whatever was sent
   * @param isRequest whether a request came just now, which keeps a session from ending idle; false where one that came long
   *   ago is judged again
   * @throws {DomainError} session_expired
   * @throws {StoreUnavailable} the session could not be judged
   */
  abstract authenticate(token: string, isRequest: boolean): Promise<PersonPrincipal>;
}
