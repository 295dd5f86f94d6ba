import { Command } from '@nestjs/cqrs';
import type { Digest } from '#libs/crypto';
import type { ApprovalId, CommandMetadata, OrgId, UserId } from '../../kernel/index.js';
import type { ApprovalVia } from '../action/index.js';
import type { ReviewToActBy } from './approval-reviews.js';

/** What a person may say to an approval. */
export const APPROVAL_DECISIONS = ['approve', 'deny'] as const;
export type ApprovalDecision = (typeof APPROVAL_DECISIONS)[number];

/**
 * One person's yes or no to an approval, from the Console, a mail or a chat. The sender of the command has
 * authenticated the person.
 * @returns the approval after the decision
 */
export class DecideApproval extends Command<ReviewToActBy> {
  constructor(
    readonly org: OrgId,
    readonly approval: ApprovalId,
    readonly answer: {
      readonly decision: ApprovalDecision;
      readonly by: UserId;
      readonly via: ApprovalVia;
      /**
       * Digest of the context that the person was shown. Required to approve; to deny, null means whatever the context
       * is by now.
       */
      readonly contextDigest: Digest | null;
      readonly reason: string | null;
    },
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}
