import { DomainError } from '#libs/domain/kernel';
import type { Role } from '#libs/domain/people';
import type { Principal, Scope } from './authenticator.port.js';
import type { RouteEntry } from './route-table.js';

/** The scopes that a key needs there, all of them: what the message and the `scope` of WWW-Authenticate name. */
export const scopesNeeded = ({ admin, scopes }: Pick<RouteEntry, 'admin' | 'scopes'>): readonly Scope[] =>
  admin || scopes.length === 0 ? ['admin'] : scopes;

/** 403 `insufficient_scope`, for a key that the route is not for. */
export const insufficientScope = (principal: Principal, route: RouteEntry): DomainError => {
  if (route.auth === 'session') {
    return new DomainError('insufficient_scope', {
      message: 'This endpoint is for signed-in people; no key may call it. Send the session cookie without a key.',
    });
  }
  const needed = scopesNeeded(route).join(' and ');
  const [what, next] = wordsFor(principal, route);
  return new DomainError('insufficient_scope', { message: `This endpoint needs ${what} ${needed}${next}` });
};

/** The same, for what only admin keys and people may ask of a route that is for agents, too. */
export const agentsHaveNoScope = (agentsInstead: string): DomainError =>
  new DomainError('insufficient_scope', {
    message: `This needs the scope admin, which no agent’s key has. ${agentsInstead}`,
  });

const MADE_BY = 'an operator makes one with `npm run ags -- keys create';

const wordsFor = ({ kind }: Principal, { admin, agentsInstead }: RouteEntry): readonly [what: string, next: string] => {
  if (kind === 'admin_key')
    return ['the key of an agent, with the scope', `. Send such a key instead of an admin key; ${MADE_BY} --agent\`.`];
  if (agentsInstead !== '') return ['the scope', `, which no agent’s key has. ${agentsInstead}`];
  return admin
    ? ['the scope', `, which no agent’s key has. Send an admin key of the organization; ${MADE_BY} --admin\`.`]
    : ['the scope', `, which this key lacks. Send a key that has it; ${MADE_BY} --agent\`.`];
};

/** 403 `insufficient_role`, for a person or an admin key whose role is below the route's. */
export const insufficientRole = (own: Role, lowest: Role): DomainError =>
  new DomainError('insufficient_role', {
    message: `This needs the role ${lowest}, and yours is ${own}. Ask an owner of the organization; GET /v1/org/members lists them.`,
  });
