import type { ActionId, AgentId, ApprovalId, OrgId, UserId } from '../../kernel/index.js';
import type { OutgoingMail } from '../../people/index.js';
import { actionOfApproval } from '../action/index.js';

/** How many approval mails a person gets per organization and hour. Further approvals are shown in the Console only. */
export const APPROVAL_MAILS_AN_HOUR = 30;
/** How many of these mails may be about one agent, so that one agent's requests do not suppress mails about others. */
export const APPROVAL_MAILS_AN_AGENT = 10;
/** How many people get a mail about one approval, at most. */
export const APPROVAL_MAIL_PEOPLE_MAX = 16;

/** What the link of a mail is about: one approval, shown to one person. */
export interface ApprovalLink {
  readonly org: OrgId;
  readonly approval: ApprovalId;
  readonly user: UserId;
}

/** A mail and the hash of its link's token. The token itself is in the mail only. */
export interface ApprovalMail {
  readonly user: UserId;
  readonly tokenHash: Uint8Array;
  readonly mail: OutgoingMail;
}

/** The id of the mail about one approval to one person. It is the same if the mail is written or sent again. */
export const approvalMailId = (approval: ApprovalId, user: UserId): string => `${approval}.${user}`;

/** The action that a mail is about. Null if `id` is not the id of an approval mail. */
export const actionOfMail = (id: string): ActionId | null => actionOfApproval(id.split('.')[0] as string);

/** All mails of one approval. */
export interface ApprovalMails {
  readonly org: OrgId;
  readonly agent: AgentId;
  readonly approval: ApprovalId;
  readonly expiresAtMs: number;
  readonly mails: readonly ApprovalMail[];
}

/**
 * Rows of approval mails and their links. No row decides anything: the state of an approval is read from its action's
 * stream.
 */
export abstract class ApprovalLinks {
  /**
   * Actions that wait for an approval and for which no mails are written yet, according to the table of due actions.
   * @param after the last action of the previous page
   */
  abstract unwritten(limit: number, after: ActionId | null): Promise<readonly ActionId[]>;
  /**
   * Writes all mails and links of an approval in one transaction. If they are written already, nothing happens. Skips a
   * person who has already had {@link APPROVAL_MAILS_AN_HOUR} mails of this organization or {@link
   * APPROVAL_MAILS_AN_AGENT} about this agent in this hour, or whose address has changed since the mail was composed.
   */
  abstract write(approval: ApprovalMails, nowMs: number): Promise<void>;
  /** The link with this token; null if it is used or expired. */
  abstract find(tokenHash: Uint8Array, nowMs: number): Promise<ApprovalLink | null>;
  /**
   * Marks the link as used.
   * @returns false if the link was already used or has expired
   */
  abstract use(tokenHash: Uint8Array, nowMs: number): Promise<boolean>;
  /** Makes a used link usable again, because the decision it was used for did not happen. */
  abstract giveBack(tokenHash: Uint8Array): Promise<void>;
}
