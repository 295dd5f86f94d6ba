import type { Digest } from '#libs/crypto';
import {
  DomainError,
  streamRef,
  type ApprovalId,
  type CommandMetadata,
  type FoldedStreams,
  type OrgId,
} from '../../kernel/index.js';
import { organizationDecider, type LivingOrganization, type Membership } from '../../people/index.js';
import type { ReviewToActBy } from './approval-reviews.js';
import { type ApprovalDecision, DecideApproval } from './decide-approval.command.js';

/** A decision that a person sent in a chat. */
export interface ChatAnswer {
  readonly org: OrgId;
  /** `<connector>:<account>`, as the chat service authenticated it; never from the text of the message. */
  readonly chatAccount: string;
  readonly approval: ApprovalId;
  readonly decision: ApprovalDecision;
  /** Digest of the context that was shown in the chat. */
  readonly contextDigest: Digest | null;
  readonly reason: string | null;
}

/**
 * Takes decisions from a chat. The chat account is looked up among the members, and that person decides under the same
 * rules as in the Console. The caller, which integrates a chat service, vouches for the account only.
 */
export class ChatApprovals {
  constructor(
    private readonly streams: FoldedStreams,
    private readonly decide: (command: DecideApproval) => Promise<ReviewToActBy>,
  ) {}

  /**
   * @param metadata its actor is replaced by the person
   * @throws {DomainError} approver_unmapped if no member has the account; approval_link_review_only if the organization
   *   does not allow decisions in chats; and those of {@link DecideApproval}
   */
  async say(answer: ChatAnswer, metadata: CommandMetadata): Promise<ReviewToActBy> {
    const { org, chatAccount, approval, decision, contextDigest, reason } = answer;
    const { state } = await this.streams.load(streamRef(organizationDecider, org));
    if (state.status === 'none') throw new DomainError('not_found');
    const member = memberOfAccount(state, chatAccount);
    if (member === null) throw new DomainError('approver_unmapped');
    if (state.approvals.chat !== 'decide') throw new DomainError('approval_link_review_only');
    const answered = { decision, by: member.user, via: 'chat' as const, contextDigest, reason };
    const actor = { type: 'user' as const, id: member.user };
    return this.decide(new DecideApproval(org, approval, answered, { ...metadata, actor }));
  }
}

/**
 * The active member with this chat account. At most one has it, because `member.decider.ts` refuses an account that is
 * taken.
 */
const memberOfAccount = ({ members }: LivingOrganization, account: string): Membership | null =>
  [...members.values()].find(({ status, chatAccounts }) => status === 'active' && chatAccounts.includes(account)) ??
  null;
