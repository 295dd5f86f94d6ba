import type { ActionId, AgentId, ApprovalId, OrgId, UserId } from '../kernel/index.js';
import type { OutgoingMail } from '../people/index.js';
import { actionOfApproval } from './approval-id.js';

/** A person gets a mail for each approval of one organization up to this many in an hour; the others wait in the Console. */
export const APPROVAL_MAILS_AN_HOUR = 30;
/** Of them, those about calls of one agent: what one agent asks for silences nothing about another. */
export const APPROVAL_MAILS_AN_AGENT = 10;
/** So many people get a mail about one approval. */
export const APPROVAL_MAIL_PEOPLE_MAX = 16;

/** What the link of a mail is about: one approval, shown to one person. */
export interface ApprovalLink {
  readonly org: OrgId;
  readonly approval: ApprovalId;
  readonly user: UserId;
}

/** A mail with the token of its link; the secret itself stands in the mail alone. */
export interface ApprovalMail {
  readonly user: UserId;
  readonly tokenHash: Uint8Array;
  readonly mail: OutgoingMail;
}

/** Names the mail about an approval to one person: the same for the same mail, also when it is written or sent again. */
export const approvalMailId = (approval: ApprovalId, user: UserId): string => `${approval}.${user}`;

/** The action that a mail asks about. Null where `id` names another mail. */
export const actionOfMail = (id: string): ActionId | null => actionOfApproval(id.split('.')[0] as string);

/** All mails of one approval. */
export interface ApprovalMails {
  readonly org: OrgId;
  readonly agent: AgentId;
  readonly approval: ApprovalId;
  readonly expiresAtMs: number;
  readonly mails: readonly ApprovalMail[];
}

/** Rows of links and of the mails that they stand in. No row decides anything: an approval is what its action's stream says. */
export abstract class ApprovalLinks {
  /**
   * Actions that wait for a person and about which nobody was written to, as far as the table of what comes due knows.
   * @param after the last one of the page before
   */
  abstract unwritten(limit: number, after: ActionId | null): Promise<readonly ActionId[]>;
  /**
   * All of these mails and their links, or nothing. Once for each approval: whoever comes second writes nothing. Left out is who has
   * got {@link APPROVAL_MAILS_AN_HOUR} of this organization or {@link APPROVAL_MAILS_AN_AGENT} about this agent in this hour, and whose address has changed since the mail was written.
   */
  abstract write(approval: ApprovalMails, nowMs: number): Promise<void>;
  /** One that could be used now. */
  abstract find(tokenHash: Uint8Array, nowMs: number): Promise<ApprovalLink | null>;
  /** @returns false when another request was first, or the time is over */
  abstract use(tokenHash: Uint8Array, nowMs: number): Promise<boolean>;
  /** What it was used for did not happen. */
  abstract giveBack(tokenHash: Uint8Array): Promise<void>;
}
