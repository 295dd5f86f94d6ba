import type { Digest } from '#libs/crypto';
import type { ShownRequest, ShownStatement } from '../../connectors/index.js';
import { ERROR_CATALOGUE, type ErrorCode, type Timestamp, type UserId } from '../../kernel/index.js';
import { activeMembershipOf, type LivingOrganization, type Membership } from '../../people/index.js';
import type { OfferedLevel } from '../../policies/index.js';
import type { EdgeTerms, ExecutionTerms, Decision, Approval, LivingAction } from '../action/index.js';
import type { ApprovalContext } from './approval-context.js';
import { calledForAmong, type CalledFor } from './called-for.js';
import { isApprover, runsFor, type ReviewedTerms } from './approvers.js';

/** Why a call cannot be approved, with a message for the person who wants to approve it. */
export interface Obstacle {
  readonly code: ErrorCode;
  readonly message: string;
}

/** What evidence the witness of the call would have, in words for approvers. */
export interface ExpectedWitness {
  readonly level: OfferedLevel;
  readonly sentence: string;
}

/**
 * What a server says of its tool, by digest: the words are a row beside the log (`ToolDefinitions`). They are no part of the
 * context, which is the same in every process, whether the row is there or not. The context binds them all the same: the
 * digest is one of its request facts, and `tool_digest` covers it.
 */
export interface ServedDefinition {
  /** While the approval is pending: the accepted one. Afterwards: the one that the context names. Null if none is accepted. */
  readonly digest: Digest | null;
  /** Whether the server says something else by now. Then the call cannot be approved. */
  readonly isHeld: boolean;
}

/** An approval at one moment: what an approver would decide on, and whether it can be approved. */
export interface ApprovalReview {
  readonly action: LivingAction;
  readonly approval: Approval;
  readonly org: LivingOrganization;
  /** The person on whose behalf the call runs, who may not approve it. Null if the agent named nobody. */
  readonly calledFor: CalledFor | null;
  /**
   * The approvers that the rule asks for now, and how many; never fewer than it asked for first. If the policy no
   * longer asks anybody about the call: the original terms.
   */
  readonly terms: ReviewedTerms;
  /**
   * While the approval is pending: the context computed now. Afterwards: the context that was decided on. Null if the
   * arguments or that context are no longer stored.
   */
  readonly context: ApprovalContext | null;
  /** Digest of the context. A decision must name this digest. */
  readonly digest: Digest | null;
  /** The context at submission. Null if it is no longer stored. */
  readonly askedContext: ApprovalContext | null;
  /** Digest of the tool in the context; null if no connector provides the tool. */
  readonly toolDigest: Digest | null;
  /** What its server says of the tool; null for a tool that a config describes. */
  readonly definition: ServedDefinition | null;
  /** How the call runs after the last signature; null if it could not run. */
  readonly run: { readonly execution: ExecutionTerms } | { readonly edge: EdgeTerms } | null;
  /** The request or the statement that would be sent; null if the connector cannot show it. */
  readonly sends: ShownRequest | ShownStatement | null;
  /** How the call would be witnessed. Null once the approval is decided. */
  readonly verify: ExpectedWitness | null;
  /** The rule that `terms` come from, with its policy version; null if that is not known. */
  readonly rule: Pick<Decision, 'rule_id' | 'policy' | 'policy_version'> | null;
  /**
   * Why nobody can approve the call now, whoever asks; null if nothing prevents it. Does not say whether the approval
   * is still pending.
   */
  readonly obstacle: Obstacle | null;
  readonly at: Timestamp;
}

/**
 * An approval from its events alone, for lists. The connector and the policy are not asked, so the review does not say
 * whether signatures still hold. Must not be used to decide.
 * @param reader the person who looks at the list, with that person's address; no other address is looked up
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
  const nothingShown = {
    context: null,
    askedContext: null,
    toolDigest: null,
    definition: null,
    run: null,
    sends: null,
  };
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

/** Digest of the context that a decision is recorded under. If it can no longer be computed: that of the submission. */
export const digestToSign = ({ digest, approval }: Pick<ApprovalReview, 'digest' | 'approval'>): Digest =>
  digest ?? approval.terms.context_digest;

export const isOpen = ({ approval, at }: Pick<ApprovalReview, 'approval' | 'at'>): boolean =>
  approval.status === 'pending' && at < approval.terms.expires_at;

/** Whether the approval is open and nothing prevents everybody from approving. */
export const isApprovable = (review: ApprovalReview): boolean => isOpen(review) && review.obstacle === null;

/**
 * The people whose signatures count: eligible now, and given under the current context. A signature under another
 * context was for a different call. Once the approval is granted: the signers that it was granted by.
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

/** Why this person may neither approve nor deny; null if the person may. */
export const whyNotDecided = ({ org, terms }: ApprovalReview, user: UserId): ErrorCode | null => {
  const member = activeMembershipOf(org.members, user);
  return member !== null && isApprover(member, terms.approvers) ? null : 'approver_not_eligible';
};

/** Why this person may not approve; null if the person may. The first reason in this order is returned. */
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
