import type { Digest } from '#libs/crypto';
import {
  amountsIn,
  DamagedPayload,
  epochMsOf,
  failpoint,
  streamRef,
  type ActionId,
  type Clock,
  type FoldedStreams,
  type PayloadStore,
  type Randomness,
} from '../../kernel/index.js';
import {
  approvalMail,
  type ApprovalMailFacts,
  organizationDecider,
  SECRET_BYTES,
  secretHash,
  secretText,
  type LivingOrganization,
  type PeopleDirectory,
} from '../../people/index.js';
import { actionDecider, type Action, type Approval, type LivingAction, isLiving } from '../action/index.js';
import {
  actionOfMail,
  APPROVAL_MAIL_PEOPLE_MAX,
  type ApprovalLinks,
  type ApprovalMail,
} from './approval-links.port.js';
import type { ApprovalContext } from './approval-context.js';
import { signersOf } from './approvers.js';
import { calledFor } from './called-for.js';

const PAGE_SIZE = 50;

/**
 * Writes mails to the people who may approve a waiting call. Every step can be repeated, by this worker or another:
 * rows tell which approvals have no mails yet, so a crash delays mails and loses none.
 */
export class ApprovalMailClerk {
  /** The last action of the previous page; null for the first page. */
  private last: ActionId | null = null;
  /** The error of the last approval for which mails could not be written, since the first page. */
  private fault: { readonly fault: unknown } | null = null;

  constructor(
    private readonly streams: FoldedStreams,
    private readonly links: ApprovalLinks,
    private readonly stored: {
      readonly people: Pick<PeopleDirectory, 'addressesOf' | 'usersAt'>;
      readonly payloads: Pick<PayloadStore, 'get'>;
    },
    private readonly sources: { readonly clock: Clock; readonly randomness: Randomness },
    private readonly linkOf: (token: string) => string,
  ) {}

  /**
   * Writes mails for one page of approvals; each call continues with the next page, so that other mails are sent in
   * between. An approval that fails does not stop the others.
   * @returns whether there may be more pages
   * @throws after the last page, the error of the last approval that failed
   */
  async write(): Promise<boolean> {
    const page = await this.links.unwritten(PAGE_SIZE, this.last);
    for (const action of page) {
      await this.writeAbout(action).catch((fault: unknown) => {
        this.fault = { fault };
      });
    }
    const hasMore = page.length === PAGE_SIZE;
    this.last = hasMore ? (page.at(-1) as ActionId) : null;
    if (!hasMore) this.throwFault();
    return hasMore;
  }

  /**
   * Whether an unsent mail should still be sent. False for the mail of an approval that was decided, cancelled or has
   * expired; true for any other kind of mail.
   * @throws {StoreUnavailable} if the approval cannot be read
   */
  async isStillOwed(mailId: string): Promise<boolean> {
    const id = actionOfMail(mailId);
    if (id === null) return true;
    const { state } = await this.streams.load(streamRef(actionDecider, id));
    return this.openApproval(state) !== null;
  }

  /** The approval, or null if it can no longer be decided. */
  private openApproval(action: Action): { readonly action: LivingAction; readonly approval: Approval } | null {
    if (!isLiving(action) || action.approval?.status !== 'pending') return null;
    const isOver = this.sources.clock.nowMs() >= epochMsOf(action.approval.terms.expires_at);
    return isOver ? null : { action, approval: action.approval };
  }

  private throwFault(): void {
    const met = this.fault;
    this.fault = null;
    if (met !== null) throw met.fault;
  }

  private async writeAbout(id: ActionId): Promise<void> {
    const { state } = await this.streams.load(streamRef(actionDecider, id));
    const open = this.openApproval(state);
    if (open === null) return;
    const { approval, action } = open;
    const { submission } = action;
    const expiresAtMs = epochMsOf(approval.terms.expires_at);
    const { state: org } = await this.streams.load(streamRef(organizationDecider, submission.org));
    const mails = org.status === 'none' ? [] : await this.mailsOf(action, approval, org);
    const about = {
      org: submission.org,
      agent: submission.agent,
      approval: approval.terms.approval,
      expiresAtMs,
      mails,
    };
    await failpoint('apr.mail');
    await this.links.write(about, this.sources.clock.nowMs());
  }

  private async mailsOf(
    { submission }: LivingAction,
    { terms }: Approval,
    { members, approvals, name }: LivingOrganization,
  ): Promise<readonly ApprovalMail[]> {
    if (approvals.mail === 'off') return [];
    const runsFor = await calledFor(this.stored.people, submission.on_behalf_of);
    const signers = [...signersOf(members, terms.approvers, runsFor)].slice(0, APPROVAL_MAIL_PEOPLE_MAX);
    const shown = await this.shown(submission.action, terms.context_digest);
    const addresses = await this.stored.people.addressesOf(signers);
    return signers.flatMap((user) => {
      const to = addresses.get(user);
      if (to === undefined) return [];
      const token = secretText(this.sources.randomness.bytes(SECRET_BYTES));
      const mail = approvalMail({
        link: this.linkOf(token),
        organization: name,
        tool: submission.tool,
        title: shown?.tool_title ?? null,
        agent: submission.agent_name,
        amounts: shown === null ? [] : amountsOf(shown),
        rule: terms.rule_id,
        expiresAt: terms.expires_at,
        isDecidedByLink: approvals.mail === 'decide',
      });
      return [{ user, tokenHash: secretHash(token) as Uint8Array, mail: { to, ...mail } }];
    });
  }

  /**
   * The context that approvers are shown. Null if it is no longer stored; the mail then leaves out title and amounts.
   */
  private async shown(action: ActionId, digest: Digest): Promise<ApprovalContext | null> {
    try {
      const body = await this.stored.payloads.get(action, 'approval_context', digest);
      return body === null ? null : (JSON.parse(body) as ApprovalContext);
    } catch (error) {
      if (error instanceof DamagedPayload) return null;
      throw error;
    }
  }
}

/**
 * The amounts that can be formatted as money. Others are left to the page behind the link, which shows all arguments as
 * they are.
 */
const amountsOf = ({ args, money }: ApprovalContext): ApprovalMailFacts['amounts'] =>
  amountsIn(args, money).flatMap(({ argument, display }) =>
    display === null ? [] : [{ argument, sent: args[argument] as number, display }],
  );
