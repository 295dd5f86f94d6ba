import { sha256 } from '@noble/hashes/sha2.js';
import { canonicalBytes } from './jcs.js';

const APPROVAL_CHALLENGE_VERSION = 'service.approval/1';

/** What a person may say to an approval. */
export const APPROVAL_DECISIONS = ['approve', 'deny'] as const;
export type ApprovalDecision = (typeof APPROVAL_DECISIONS)[number];

/** What a device signs when its person decides an approval: each member stands in the deed, or in what its evidence opens. */
export interface ApprovalChallenge {
  readonly org: string;
  /** Id `apr_`. */
  readonly approval: string;
  /** Id `act_`. */
  readonly action: string;
  /** The digest of what the person was shown (docs/deed-format.md, Approvals): without a salt, as the person's page has it. */
  readonly context_digest: string;
  readonly decision: ApprovalDecision;
  /** Id `usr_`. */
  readonly user: string;
}

/**
 * The challenge, 32 bytes: SHA-256 of the members and `v` in canonical form. So a signature is of one decision of one person
 * on what that person was shown, and of nothing else. Pure, as passkey-assertion.ts.
 */
export const approvalChallenge = ({
  org,
  approval,
  action,
  context_digest,
  decision,
  user,
}: ApprovalChallenge): Uint8Array =>
  sha256(canonicalBytes({ action, approval, context_digest, decision, org, user, v: APPROVAL_CHALLENGE_VERSION }));
