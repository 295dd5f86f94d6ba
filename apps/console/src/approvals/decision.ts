import type { Schemas } from '../kernel/client.ts';

type Approval = Schemas['Approval'];

/** What a press on the right button does. */
export type Press =
  /** Scrolls on, because arguments have not been on the screen yet. */
  | 'page'
  /** Asks for a second press, because the call may destroy something. */
  | 'arm'
  | 'approve';

/**
 * The meaning of the right button. Approve is offered only if all arguments of exactly the present context have been on
 * the screen.
 * @param seenDigest the digest of the context whose last argument was on the screen; null if there is none
 */
export const pressOf = (
  approval: Pick<Approval, 'side_effect' | 'context_digest'>,
  { seenDigest, isArmed }: { readonly seenDigest: string | null; readonly isArmed: boolean },
): Press => {
  if (seenDigest === null || seenDigest !== approval.context_digest) return 'page';
  return isDestructive(approval) && !isArmed ? 'arm' : 'approve';
};

const isDestructive = ({ side_effect: effect }: Pick<Approval, 'side_effect'>): boolean =>
  effect === 'destructive' || effect === 'unknown';

/**
 * Why this person, or anybody, may not approve the call, as a sentence; null if approving is possible, or the approval
 * is no longer pending.
 */
export const whyNot = (approval: Approval): string | null => {
  if (approval.status !== 'pending') return null;
  if (approval.you !== undefined && !approval.you.eligible) return WHY[approval.you.why_not ?? 'approver_not_eligible'];
  if (approval.context === null || approval.context === undefined)
    return 'The arguments are no longer stored, so this call cannot be approved.';
  if (!approval.context.complete) return 'The full request cannot be shown here, so this call cannot be approved.';
  if (approval.approvable === false) return approval.blocked_by?.message ?? 'This call cannot be approved as it is.';
  return null;
};

const WHY: Readonly<Record<NonNullable<NonNullable<Approval['you']>['why_not']>, string>> = {
  approval_expired: 'This approval has expired. The call did not run.',
  approval_decided: 'This approval has already been decided.',
  approver_not_eligible: 'You are not an approver of this rule.',
  self_approval: 'The call runs on your behalf, so another person must approve it. You can deny it.',
  already_countersigned: 'You have approved. Another person must approve next.',
};

/** The words of the button, with the amount if the service knows the cost. */
export const wordsOf = (press: Press, cost: Approval['cost'], isArmed: boolean): string => {
  if (press === 'page') return 'Read on';
  const what = cost === null || cost === undefined ? '' : ` ${cost.display}`;
  return isArmed ? `Yes, approve${what}` : `Approve${what}`;
};
