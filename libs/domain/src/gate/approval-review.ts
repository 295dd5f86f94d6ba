import type { Digest } from '#libs/crypto';
import type { ShownRequest } from '../connectors/index.js';
import { ERROR_CATALOGUE, type ErrorCode, type Timestamp, type UserId } from '../kernel/index.js';
import { activeMembershipOf, type LivingOrganization, type Membership } from '../people/index.js';
import type { EdgeTerms, ExecutionTerms } from './action.commands.js';
import type { Decision } from './action.events.js';
import type { Approval, LivingAction } from './action.state.js';
import type { ApprovalContext } from './approval-context.js';
import { calledForAmong, type CalledFor } from './called-for.js';
import { isApprover, runsFor, type ReviewedTerms } from './approvers.js';

/** Why something may not be, in the words for whoever wants it. */
export interface Obstacle {
  readonly code: ErrorCode;
  readonly message: string;
}

/** What the witness of a call would rest on, in words for whoever decides. */
export interface ExpectedWitness {
  readonly level: 'L0' | 'L1';
  readonly sentence: string;
}

/** An approval as it stands at this moment: what a person would decide on, and whether anybody may. */
export interface ApprovalReview {
  readonly action: LivingAction;
  readonly approval: Approval;
  readonly org: LivingOrganization;
  /** Whom the call runs for, who may not approve it. Null where it runs for nobody in particular. */
  readonly calledFor: CalledFor | null;
  /**
   * Whom the rule asks now, and for how many, which are never fewer than it asked for first; where it allows the call by
   * now, whom it asked before.
   */
  readonly terms: ReviewedTerms;
  /**
   * While it is pending, made anew; afterwards, what was last looked at. Null where the arguments, or what was looked at,
   * are stored no more.
   */
  readonly context: ApprovalContext | null;
  /** Of the context; what a decision must name. */
  readonly digest: Digest | null;
  /** What people were shown when they were asked. Null where it is stored no more. */
  readonly askedContext: ApprovalContext | null;
  /** Of the tool that is shown; null where no connector provides it. */
  readonly toolDigest: Digest | null;
  /** What the call becomes by the last signature; null where it could not run. */
  readonly run: { readonly execution: ExecutionTerms } | { readonly edge: EdgeTerms } | null;
  /** The request that would go out, where the connector can show it. */
  readonly sends: ShownRequest | null;
  /** How the call would be confirmed once it ran. Null once it is decided. */
  readonly verify: ExpectedWitness | null;
  /** The rule of the terms, in the version that it is read from; null where that is not known. */
  readonly rule: Pick<Decision, 'rule_id' | 'policy' | 'policy_version'> | null;
  /** Why nobody may approve it now. It says nothing about who asks, nor whether it is still pending. */
  readonly obstacle: Obstacle | null;
  readonly at: Timestamp;
}

/**
 * An approval as its events alone tell it, for a list: nothing is asked about the connector or the policy, so it does not
 * say whether what was signed still holds. Never to be decided by.
 * @param reader who looks at it, with the address that the person has: nobody else's is looked up
 */
export const recordedReview = (
  action: LivingAction,
  org: LivingOrganization,
  at: Timestamp,
  reader: { readonly user: UserId; readonly address: string | undefined } | null,
): ApprovalReview | null => {
  const { approval } = action;
  if (approval === null) return null;
  const { terms, signatures, decidedUnder } = approval;
  const nothingShown = { context: null, askedContext: null, toolDigest: null, run: null, sends: null };
  const nothingAsked = { ...nothingShown, verify: null, rule: null, obstacle: null };
  return {
    action,
    approval,
    org,
    calledFor: calledForAmong(action.submission.on_behalf_of, reader),
    terms,
    digest: decidedUnder ?? signatures.at(-1)?.context_digest ?? terms.context_digest,
    ...nothingAsked,
    at,
  };
};

export const isOpen = ({ approval, at }: Pick<ApprovalReview, 'approval' | 'at'>): boolean =>
  approval.status === 'pending' && at < approval.terms.expires_at;

/** Whether anybody at all could approve it as it stands. */
export const isApprovable = (review: ApprovalReview): boolean => isOpen(review) && review.obstacle === null;

/**
 * Who signed and still counts: eligible now, under the context that holds now. A signature under another context was given
 * for something else. Once it is decided: those by which it was.
 */
export const countingSigners = (review: ApprovalReview): readonly UserId[] => {
  const { approval, digest, org, terms, calledFor } = review;
  if (approval.status === 'approved') return approval.counted;
  const signers = approval.signatures
    .filter((signature) => signature.context_digest === digest)
    .map(({ by }) => by)
    .filter((by) => {
      if (approval.status !== 'pending') return true;
      const member = activeMembershipOf(org.members, by);
      return member !== null && isApprover(member, terms.approvers) && !runsFor(member, calledFor);
    });
  return [...new Set(signers)];
};

/** Why this person may not decide, yes or no; null where nothing is against it. */
export const whyNotDecided = ({ org, terms }: ApprovalReview, user: UserId): ErrorCode | null => {
  const member = activeMembershipOf(org.members, user);
  return member !== null && isApprover(member, terms.approvers) ? null : 'approver_not_eligible';
};

/** Why this person may not sign; null where nothing is against it. In the order in which a refusal names them. */
export const whyNotSigned = (review: ApprovalReview, user: UserId): ErrorCode | null => {
  const refused = whyNotDecided(review, user);
  if (refused !== null) return refused;
  const member = activeMembershipOf(review.org.members, user) as Membership;
  if (runsFor(member, review.calledFor)) return 'self_approval';
  return countingSigners(review).includes(user) ? 'already_countersigned' : null;
};

export const obstacleOf = (code: ErrorCode, message: string = ERROR_CATALOGUE[code].message): Obstacle => ({
  code,
  message,
});
