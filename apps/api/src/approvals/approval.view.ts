import type { JsonObject, JsonValue } from '#libs/crypto';
import {
  type BudgetCharge,
  budgetIdOf,
  changedPaths,
  costIn,
  countingSigners,
  isApprovable,
  isOpen,
  passkeysFor,
  signersOf,
  whyNotDecided,
  whyNotSigned,
  type ApprovalReview,
} from '#libs/domain/gate';
import { amountsIn, displayOf, type DeedId, type ErrorCode, type UserId } from '#libs/domain/kernel';
import type { ApprovalWarning } from './approval-warnings.js';
import type { ShownDefinition } from './served-definitions.js';

/** What every caller sees of an approval: lists, admin keys and people alike. */
export const approvalView = (review: ApprovalReview, deed: DeedId | null): JsonObject => {
  const { action, approval, terms, digest } = review;
  const { submission, decision } = action;
  return {
    object: 'approval',
    id: approval.terms.approval,
    status: approval.status,
    action: submission.action,
    agent: { id: submission.agent, name: submission.agent_name },
    tool: submission.tool,
    side_effect: review.context?.side_effect ?? submission.side_effect,
    rule_id: terms.rule_id,
    policy_version: decision?.policy_version ?? null,
    required: terms.required,
    signed: terms.signed === true,
    countersigned: countingSigners(review).length,
    on_behalf_of: submission.on_behalf_of,
    expires_at: approval.terms.expires_at,
    decided_at: approval.decidedAt,
    decided_by: approval.decidedBy === null ? null : { ...approval.decidedBy },
    reason: approval.reason,
    cost: costView(review),
    deed,
    created_at: approval.requestedAt,
    context_digest: digest,
  };
};

/** Whether this person may sign, and if not, why; a no may be open to who must not say yes. */
export const standingOf = (review: ApprovalReview, user: UserId): JsonObject => {
  const whyNot = closedBy(review) ?? whyNotSigned(review, user);
  const mayDeny = isOpen(review) && whyNotDecided(review, user) === null;
  const hasPasskey = passkeysFor(review, user).length > 0;
  return { eligible: whyNot === null, why_not: whyNot, may_deny: mayDeny, has_passkey: hasPasskey };
};

const closedBy = (review: ApprovalReview): ErrorCode | null => {
  if (isOpen(review)) return null;
  const { status } = review.approval;
  return status === 'pending' || status === 'expired' ? 'approval_expired' : 'approval_decided';
};

/** A bound of a budget that the call was charged to, and what is used of it now. */
export interface BudgetStanding {
  readonly charge: BudgetCharge;
  readonly used: number;
}

/** What is known of an approval beyond its review. */
export interface AboutReview {
  /** What the author of the policy says of the rule; null where nothing. */
  readonly description: string | null;
  /** What its server says of the tool; null for a tool that a config describes. */
  readonly definition: ShownDefinition | null;
  readonly warnings: readonly ApprovalWarning[];
  readonly budgets: readonly BudgetStanding[];
}

/** What a person sees beyond it: all that is decided on, and how the person stands to it. */
export const reviewView = (review: ApprovalReview, user: UserId, about: AboutReview): JsonObject => ({
  approvable: isApprovable(review),
  blocked_by: isOpen(review) && review.obstacle !== null ? { ...review.obstacle } : null,
  budgets: about.budgets.map(({ charge: { budget, limit, currency, resets_at }, used }) => ({
    budget,
    used,
    limit,
    currency,
    resets_at,
  })),
  context: contextView(review, about),
  approvers: approversOf(review),
  you: standingOf(review, user),
  warnings: about.warnings.map((warning) => ({ ...warning })),
});

/** Of what the call spends, as far as the facts of its request say so. A list does not look at these. */
const costView = ({ context }: ApprovalReview): JsonObject | null => {
  const cost = context === null ? null : costIn(context.request);
  return cost === null ? null : { ...cost, display: displayOf(cost) };
};

const contextView = (review: ApprovalReview, { description, definition, budgets }: AboutReview): JsonObject | null => {
  const { context, askedContext, action, sends, verify } = review;
  if (context === null) return null;
  return {
    tool: {
      name: context.tool,
      title: context.tool_title ?? null,
      description: context.tool_description,
      side_effect: context.side_effect,
      digest: context.tool_digest,
      definition: definition === null ? null : { ...definition },
    },
    args: context.args,
    amounts: amountsIn(context.args, context.money).map((amount) => ({ ...amount })),
    agent: { id: context.agent.id, name: context.agent.name, labels: { ...context.agent.labels } },
    on_behalf_of: context.on_behalf_of,
    session: context.session,
    intent_signed: context.intent_signed,
    rule: { id: context.rule_id, description },
    approvers: [...context.approvers],
    required: context.required,
    connector: action.submission.connector,
    policy_version: action.decision?.policy_version ?? null,
    facts: context.request as unknown as JsonValue,
    sends: sends === null ? null : 'sql' in sends ? { sql: sends.sql, params: [...sends.params] } : { ...sends },
    verify: verify === null ? null : { ...verify },
    expires_at: context.expires_at,
    budgets_after: budgets.map(({ charge: { budget, limit: max, currency }, used }) => ({
      id: budgetIdOf(budget),
      used,
      max,
      currency,
    })),
    // Of a tool that nobody provides any more, nobody can say what would be sent.
    complete: context.tool_digest !== null || action.submission.connector === null,
    changed: askedContext === null ? [] : [...changedPaths(askedContext, context)],
  };
};

/** Who could sign, and when and with which reason who did. */
const approversOf = (review: ApprovalReview): JsonValue => {
  const { org, terms, approval, calledFor } = review;
  const signed = new Set(countingSigners(review));
  const able = isOpen(review) ? signersOf(org.members, terms.approvers, calledFor) : [];
  return [...new Set([...signed, ...able])].map((user) => {
    const signature = signed.has(user) ? approval.signatures.findLast(({ by }) => by === user) : undefined;
    return { user, countersigned_at: signature?.at ?? null, reason: signature?.reason ?? null };
  });
};
