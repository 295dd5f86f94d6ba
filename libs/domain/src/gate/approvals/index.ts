export { type ApprovalContext, changedPaths, contextDocument, contextOf } from './approval-context.js';
export {
  APPROVAL_MAILS_AN_AGENT,
  APPROVAL_MAILS_AN_HOUR,
  type ApprovalLink,
  ApprovalLinks,
  type ApprovalMail,
  approvalMailId,
  type ApprovalMails,
} from './approval-links.port.js';
export { ApprovalMailClerk } from './approval-mail-clerk.js';
export { ApprovalPlaces, type HeldPlace, type WantedPlace } from './approval-places.port.js';
export {
  type ApprovalReview,
  countingSigners,
  isApprovable,
  isOpen,
  recordedReview,
  whyNotDecided,
  whyNotSigned,
} from './approval-review.js';
export { ApprovalReviews, type ReviewToActBy } from './approval-reviews.js';
export { type ReviewedTerms, signedTerms, signersOf } from './approvers.js';
export { calledFor } from './called-for.js';
export { CancelAction, CancelActionHandler } from './cancel-action.handler.js';
export { ChatApprovals, type ChatAnswer } from './chat-approvals.js';
export {
  APPROVAL_DECISIONS,
  type ApprovalDecision,
  DecideApproval,
  type GivenAssertion,
} from './decide-approval.command.js';
export { DecideApprovalHandler } from './decide-approval.handler.js';
export { hiddenCharactersIn, hiddenPlaceIn } from './hidden-characters.js';
export { LinkedApprovals } from './linked-approvals.js';
export { type DecisionOptions, passkeysFor, SignedDecisions } from './signed-decisions.js';
export { takePlace } from './take-place.js';
