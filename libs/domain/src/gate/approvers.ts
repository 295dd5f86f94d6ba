import type { UserId } from '../kernel/index.js';
import { isAtLeast, isNamedBy, isRole, type Membership, type Memberships } from '../people/index.js';
import type { ApprovalTerms } from './action.events.js';
import type { CalledFor } from './called-for.js';

/** Who may approve and how many must: what a rule says of it. */
export type ReviewedTerms = Pick<ApprovalTerms, 'rule_id' | 'approvers' | 'required'>;

const ROLE = 'role:';

/** Whether a rule names this person: by id, or by a role that the person has or stands above. */
export const isApprover = ({ status, user, role }: Membership, approvers: readonly string[]): boolean =>
  status === 'active' &&
  approvers.some((approver) => {
    if (!approver.startsWith(ROLE)) return approver === user;
    const lowest = approver.slice(ROLE.length);
    return isRole(lowest) && isAtLeast(role, lowest);
  });

/** Whether the call is made on this person's behalf: who asks for something is not who allows it (four-eyes). */
export const runsFor = (member: Membership, calledFor: CalledFor | null): boolean =>
  calledFor !== null && (calledFor.persons.includes(member.user) || isNamedBy(member, calledFor.reference));

/** Who could sign now, the person whom the call runs for not counted. */
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
