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
import type { ApprovalLink, ApprovalLinks } from '../approval-links.port.js';
import type { ReviewToActBy } from './approval-reviews.js';
import { DecideApproval } from './decide-approval.command.js';

/** A link that could be used now. */
export interface OpenLink extends ApprovalLink {
  readonly tokenHash: Uint8Array;
  /** False where the organization decides in the Console alone. */
  readonly isDecidable: boolean;
}

/** What a person says by a link. */
export interface LinkedWord {
  readonly decision: 'approve' | 'deny';
  readonly contextDigest: Digest;
  readonly reason: string | null;
}

/** Over for good: whoever comes with the link again is told no more about it. */
const FINAL: ReadonlySet<ErrorCode> = new Set(['approval_decided', 'approval_expired', 'not_found']);

/**
 * Approvals that are looked at and decided by the link of a mail. Who has the link is the person it was sent to, for
 * this one approval and as long as that person is a member; all else is judged as in the Console.
 */
export class LinkedApprovals {
  /** @param decide sends the command on: the same for links and for the Console */
  constructor(
    private readonly streams: FoldedStreams,
    private readonly links: ApprovalLinks,
    private readonly clock: Clock,
    private readonly decide: (command: DecideApproval) => Promise<ReviewToActBy>,
  ) {}

  /** Uses nothing. @throws {DomainError} approval_link_invalid */
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
   * Of any number of requests with one token one decides. Where it is refused for a reason that may pass, the link works again.
   * @throws {DomainError} approval_link_invalid, approval_link_review_only, and what {@link DecideApproval} is refused with
   */
  async say(link: OpenLink, word: LinkedWord, requestId: RequestId): Promise<ReviewToActBy> {
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
      return await this.decide(new DecideApproval(org, approval, { ...word, by, via: 'mail' }, metadata));
    } catch (error) {
      const isFinal = error instanceof DomainError && FINAL.has(error.code);
      if (!isFinal) await this.links.giveBack(tokenHash);
      throw error;
    }
  }
}
