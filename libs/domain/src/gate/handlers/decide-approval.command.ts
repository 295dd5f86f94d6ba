import { Command } from '@nestjs/cqrs';
import type { Digest } from '#libs/crypto';
import type { ApprovalId, CommandMetadata, OrgId, UserId } from '../../kernel/index.js';
import type { ApprovalVia } from '../action.events.js';
import type { ReviewToActBy } from './approval-reviews.js';

/**
 * One person's yes or no, wherever it was said. Whoever sends it has proven the person.
 * @returns the approval as the decision left it
 */
export class DecideApproval extends Command<ReviewToActBy> {
  constructor(
    readonly org: OrgId,
    readonly approval: ApprovalId,
    readonly word: {
      readonly decision: 'approve' | 'deny';
      readonly by: UserId;
      readonly via: ApprovalVia;
      /** Of what the person was shown. A yes names it; a no may be said about whatever it is by now. */
      readonly contextDigest: Digest | null;
      readonly reason: string | null;
    },
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}
