import type { Digest } from '#libs/crypto';
import { DomainError, type UserId } from '../../kernel/index.js';
import type { Approval } from '../action/index.js';
import { type ApprovalReview, isOpen, whyNotDecided, whyNotSigned } from './approval-review.js';
import type { ApprovalDecision } from './decide-approval.command.js';

/** A decision, as far as it is judged by what the approval says now. */
export interface JudgedAnswer {
  readonly decision: ApprovalDecision;
  readonly by: UserId;
  /** Null to deny whatever it is by now. */
  readonly contextDigest: Digest | null;
}

/** @throws {DomainError} approval_expired, approval_decided */
export const requireStillOpen = (review: ApprovalReview): void => {
  if (!isOpen(review)) throw ended(review.approval);
};

export const ended = (approval: Approval | null): DomainError =>
  new DomainError(
    approval?.status === 'expired' || approval?.status === 'pending' ? 'approval_expired' : 'approval_decided',
  );

/**
 * Of an approval that is open.
 * @throws {DomainError} in this order: approver_not_eligible; to approve only: self_approval, already_countersigned, and the
 *   obstacle of the review; context_changed
 */
export const requireDecidable = (answer: JudgedAnswer, review: ApprovalReview): void => {
  const refused = answer.decision === 'approve' ? whyNotSigned(review, answer.by) : whyNotDecided(review, answer.by);
  if (refused !== null) throw new DomainError(refused);
  const { obstacle } = review;
  if (answer.decision === 'approve' && obstacle !== null) {
    throw new DomainError(obstacle.code, { message: obstacle.message });
  }
  const isNamed = answer.decision === 'approve' || answer.contextDigest !== null;
  if (isNamed && answer.contextDigest !== review.digest) throw new DomainError('context_changed');
};
