import { isAtLeast, type Role } from '#libs/domain/people';
import { isChanging } from '../../../apps/api/src/http/csrf.js';
import type { DescribedOperation } from '../described-answer.js';

/** Who calls, each with all that is proper for it unless its name says otherwise. */
export const CALLERS = [
  'nobody',
  'an agent key with every scope',
  'an agent key without the scope',
  'an admin key',
  'a viewer',
  'an admin',
  'an owner',
  'an owner without the CSRF token',
  'an owner beside a bad key',
  'an owner of another organization',
  'an admin key of another organization',
] as const;
export type Caller = (typeof CALLERS)[number];

/** Who calls in each role: one without a caller does not compile, and a caller needs a verdict below. */
const MEMBERS = { viewer: 'a viewer', admin: 'an admin', owner: 'an owner' } as const satisfies Record<Role, Caller>;

/** Null: the guard lets the caller through. */
export type Verdict = readonly [status: number, code: string | null] | null;

const ASKED: Verdict = [401, 'authentication_required'];
const NO_SCOPE: Verdict = [403, 'insufficient_scope'];
const NO_ROLE: Verdict = [403, 'insufficient_role'];
const NOT_FOUND: Verdict = [404, 'not_found'];

/** What a caller is told, from what the interface description says of the operation and from nothing else. */
export const verdictOf = (operation: DescribedOperation, caller: Caller): Verdict => {
  const verdict = verdictInJson(operation, caller);
  // A page sends who is nobody to sign in, and says the rest in words.
  return operation.isPage && verdict !== null ? [verdict[0] === 401 ? 302 : verdict[0], null] : verdict;
};

const verdictInJson = (operation: DescribedOperation, caller: Caller): Verdict => {
  if (operation.auth === 'public') return null;
  switch (caller) {
    case 'nobody':
      return ASKED;
    case 'an owner beside a bad key':
      return [401, 'invalid_api_key'];
    case 'an agent key with every scope':
      return operation.auth === 'session' || operation.isAdmin ? NO_SCOPE : null;
    case 'an agent key without the scope':
      return needsNoScope(operation) ? null : NO_SCOPE;
    case 'an admin key':
      return ofAdminKey(operation);
    case MEMBERS.viewer:
      return ofPerson(operation, 'viewer');
    case MEMBERS.admin:
      return ofPerson(operation, 'admin');
    case MEMBERS.owner:
      return ofPerson(operation, 'owner');
    case 'an owner without the CSRF token':
      return ofPerson(operation, 'owner') ?? (isChanging(operation.method) ? [403, 'csrf_failed'] : null);
    case 'an owner of another organization':
      return ofPerson(operation, 'owner') ?? elsewhere(operation);
    case 'an admin key of another organization':
      return ofAdminKey(operation) ?? elsewhere(operation);
  }
};

/** Every key is let in, if only to be told that keys do not decide. */
const needsNoScope = ({ auth, isAdmin, scopes }: DescribedOperation): boolean =>
  auth === 'session_or_key' && !isAdmin && scopes.length === 0;

const ofAdminKey = (operation: DescribedOperation): Verdict =>
  operation.auth === 'session_or_key' ? ofRole(operation, 'admin') : NO_SCOPE;

const ofPerson = (operation: DescribedOperation, role: Role): Verdict =>
  operation.auth === 'agent_key' ? ASKED : ofRole(operation, role);

const ofRole = ({ role }: DescribedOperation, own: Role): Verdict =>
  role === null || isAtLeast(own, role as Role) ? null : NO_ROLE;

/** What an organization has is not there for another one (rule API-17). */
const elsewhere = (operation: DescribedOperation): Verdict => (namesWhatIsOwned(operation) ? NOT_FOUND : null);

/** A page is the same for everybody, whatever its address names. */
export const namesWhatIsOwned = ({ template, auth, isPage }: DescribedOperation): boolean =>
  auth !== 'public' && !isPage && /\{(?:id|key|kid|v)\}/.test(template);
