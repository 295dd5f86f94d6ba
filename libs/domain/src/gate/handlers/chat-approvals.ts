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
import { DecideApproval } from './decide-approval.command.js';

/** A yes or no that somebody has said in a chat. */
export interface ChatWord {
  readonly org: OrgId;
  /** `<connector>:<account>`, as the chat itself proved it and never as the message says. */
  readonly chatAccount: string;
  readonly approval: ApprovalId;
  readonly decision: 'approve' | 'deny';
  /** Of what the chat showed. */
  readonly contextDigest: Digest | null;
  readonly reason: string | null;
}

/**
 * Decisions by chat: the account is looked up among the members, and the person decides as in the Console, under the same
 * rules. Whoever brings a chat calls this; it trusts its caller about the account, and nobody about anything else.
 */
export class ChatApprovals {
  constructor(
    private readonly streams: FoldedStreams,
    private readonly decide: (command: DecideApproval) => Promise<ReviewToActBy>,
  ) {}

  /**
   * @param metadata its actor is replaced by the person
   * @throws {DomainError} approver_unmapped; approval_link_review_only: the organization decides in the Console alone; and
   *   as {@link DecideApproval}
   */
  async say(word: ChatWord, metadata: CommandMetadata): Promise<ReviewToActBy> {
    const { org, chatAccount, approval, decision, contextDigest, reason } = word;
    const { state } = await this.streams.load(streamRef(organizationDecider, org));
    if (state.status === 'none') throw new DomainError('not_found');
    const member = memberOfAccount(state, chatAccount);
    if (member === null) throw new DomainError('approver_unmapped');
    if (state.approvals.chat !== 'decide') throw new DomainError('approval_link_review_only');
    const said = { decision, by: member.user, via: 'chat' as const, contextDigest, reason };
    const actor = { type: 'user' as const, id: member.user };
    return this.decide(new DecideApproval(org, approval, said, { ...metadata, actor }));
  }
}

/** At most one has it: an account that is taken is given to nobody else (member.decider.ts). */
const memberOfAccount = ({ members }: LivingOrganization, account: string): Membership | null =>
  [...members.values()].find(({ status, chatAccounts }) => status === 'active' && chatAccounts.includes(account)) ??
  null;
