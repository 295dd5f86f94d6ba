import type { Schemas } from '../kernel/client.ts';

type Approval = Schemas['Approval'];

/** What a press on the right button does. */
export type Press =
  /** Shows more of what is to be read. */
  | 'page'
  /** Asks for a second press: what is destroyed stays destroyed. */
  | 'arm'
  | 'approve';

/**
 * Approve is offered only to who has had the last argument on the screen, of exactly what stands there now.
 * @param seenDigest the context of which all arguments were on the screen; null, of none
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

/** Why nobody, or not this person, may approve it, as a sentence; null where nothing stands against it. */
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

/** What the button says: with the amount, where the service knows one. */
export const wordsOf = (press: Press, cost: Approval['cost'], isArmed: boolean): string => {
  if (press === 'page') return 'Read on';
  const what = cost === null || cost === undefined ? '' : ` ${cost.display}`;
  return isArmed ? `Yes, approve${what}` : `Approve${what}`;
};
