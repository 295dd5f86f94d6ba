import type { UserId } from '../../kernel/index.js';
import { isAtLeast, isNamedBy, isRole, type Membership, type Memberships } from '../../people/index.js';
import type { ApprovalTerms } from '../action/index.js';
import type { CalledFor } from './called-for.js';

/** Who may approve, how many must and whether each signs with a passkey, according to a rule. */
export type ReviewedTerms = Pick<ApprovalTerms, 'rule_id' | 'approvers' | 'required' | 'signed'>;

/** The terms, with a passkey where anything asks for one: the rule, the organization, or what was asked for first. */
export const signedTerms = <Terms extends ReviewedTerms>(terms: Terms, signed: true | undefined): Terms =>
  signed === undefined || terms.signed ? terms : { ...terms, signed };

const ROLE = 'role:';

/** Whether `approvers` names this active member: by id, or by a role that is the member's own or a lower one. */
export const isApprover = ({ status, user, role }: Membership, approvers: readonly string[]): boolean =>
  status === 'active' &&
  approvers.some((approver) => {
    if (!approver.startsWith(ROLE)) return approver === user;
    const lowest = approver.slice(ROLE.length);
    return isRole(lowest) && isAtLeast(role, lowest);
  });

/** Whether the call runs on this person's behalf. Such a person may not approve it (four-eyes principle). */
export const runsFor = (member: Membership, calledFor: CalledFor | null): boolean =>
  calledFor !== null && (calledFor.persons.includes(member.user) || isNamedBy(member, calledFor.reference));

/** The people who could sign now, without the person on whose behalf the call runs. */
export const signersOf = (
  members: Memberships,
  approvers: readonly string[],
  calledFor: CalledFor | null,
): ReadonlySet<UserId> =>
  new Set(
    [...members.values()]
      .filter((member) => isApprover(member, approvers) && !runsFor(member, calledFor))
      .map(({ user }) => user),
  );
