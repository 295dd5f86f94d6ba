import { Command } from '@nestjs/cqrs';
import { APPROVAL_DECISIONS, type ApprovalDecision, type Digest } from '#libs/crypto';
import type { ApprovalId, CommandMetadata, OrgId, UserId } from '../../kernel/index.js';
import type { AssertionAnswer, RelyingParty } from '../../people/index.js';
import type { ApprovalVia } from '../action/index.js';
import type { ReviewToActBy } from './approval-reviews.js';

export { APPROVAL_DECISIONS, type ApprovalDecision };

/** What a device answered, and for which site; null where browsers have no passkeys at it. */
export interface GivenAssertion {
  readonly answer: AssertionAnswer;
  readonly party: RelyingParty | null;
}

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
      /** What the person's passkey signed. Needed for a yes where `signed` says so; always checked where it is given. */
      readonly assertion?: GivenAssertion | null;
    },
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}
