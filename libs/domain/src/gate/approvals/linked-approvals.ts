import type { Digest } from '#libs/crypto';
import {
  DomainError,
  streamRef,
  timestampOf,
  type Clock,
  type ErrorCode,
  type FoldedStreams,
  type RequestId,
} from '../../kernel/index.js';
import { activeMembershipOf, organizationDecider, secretHash } from '../../people/index.js';
import type { ApprovalLink, ApprovalLinks } from './approval-links.port.js';
import type { ReviewToActBy } from './approval-reviews.js';
import { type ApprovalDecision, DecideApproval, type GivenAssertion } from './decide-approval.command.js';

/** A link that can be used now. */
export interface OpenLink extends ApprovalLink {
  readonly tokenHash: Uint8Array;
  /** False if the organization allows decisions in the Console only. */
  readonly isDecidable: boolean;
}

/** A decision made through a link. */
export interface LinkedAnswer {
  readonly decision: ApprovalDecision;
  readonly contextDigest: Digest;
  readonly reason: string | null;
  readonly assertion?: GivenAssertion | null;
}

/** Errors after which the link stays used, because the approval cannot be decided any more. */
const FINAL: ReadonlySet<ErrorCode> = new Set(['approval_decided', 'approval_expired', 'not_found']);

/**
 * Shows and decides approvals through the link of a mail. Possession of the link identifies the person it was sent to,
 * for this approval only, and while that person is a member. Everything else is checked as in the Console.
 */
export class LinkedApprovals {
  /** @param decide sends the command to its handler, as for a decision in the Console */
  constructor(
    private readonly streams: FoldedStreams,
    private readonly links: ApprovalLinks,
    private readonly clock: Clock,
    private readonly decide: (command: DecideApproval) => Promise<ReviewToActBy>,
  ) {}

  /**
   * Looks a link up without using it.
   * @throws {DomainError} approval_link_invalid
   */
  async open(token: string): Promise<OpenLink> {
    const tokenHash = secretHash(token);
    const link = tokenHash && (await this.links.find(tokenHash, this.clock.nowMs()));
    if (!link) throw new DomainError('approval_link_invalid');
    const { state: org } = await this.streams.load(streamRef(organizationDecider, link.org));
    const isOpen =
      org.status !== 'none' && org.approvals.mail !== 'off' && activeMembershipOf(org.members, link.user) !== null;
    if (!isOpen) throw new DomainError('approval_link_invalid');
    return { ...link, tokenHash, isDecidable: org.approvals.mail === 'decide' };
  }

  /**
   * Decides through a link. Of concurrent requests with one token, one decides. If the decision is refused for a reason
   * that may pass, the link can be used again.
   * @throws {DomainError} approval_link_invalid, approval_link_review_only, and the errors of {@link DecideApproval}
   */
  async say(link: OpenLink, answer: LinkedAnswer, requestId: RequestId): Promise<ReviewToActBy> {
    if (!link.isDecidable) throw new DomainError('approval_link_review_only');
    const { org, approval, user: by, tokenHash } = link;
    const nowMs = this.clock.nowMs();
    if (!(await this.links.use(tokenHash, nowMs))) throw new DomainError('approval_link_invalid');
    const metadata = {
      org,
      actor: { type: 'user' as const, id: by },
      requestId,
      commandId: `approval-link:${requestId}`,
      now: timestampOf(nowMs),
    };
    try {
      return await this.decide(new DecideApproval(org, approval, { ...answer, by, via: 'mail' }, metadata));
    } catch (error) {
      const isFinal = error instanceof DomainError && FINAL.has(error.code);
      if (!isFinal) await this.links.giveBack(tokenHash);
      throw error;
    }
  }
}
