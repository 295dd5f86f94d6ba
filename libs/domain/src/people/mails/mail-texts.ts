import { type Role, ROLE_IN_WORDS } from '../role.js';

/** What a mail says: plain text alone, so that what is read is what was written. */
export interface MailText {
  readonly subject: string;
  readonly text: string;
}

/** Who asked to sign in: a link, and a code for where links do not lead back to the browser that asked. */
export interface SignInMail {
  readonly link: string;
  readonly code: string;
  readonly minutes: number;
}

/** Who was invited by a member. The name is what that organization calls itself: it is not to be trusted. */
export interface InvitationMail {
  readonly link: string;
  readonly organization: string;
  readonly role: Role;
  /** In words: an address, or what has none. */
  readonly inviter: string;
  readonly minutes: number;
}

/** A mail names no address but an inviter's: it may be forwarded, and says nothing about anybody to whom it was not sent. */
export const signInMail = ({ link, code, minutes }: SignInMail): MailText => ({
  subject: 'Your sign-in link and code',
  text: paragraphs(
    'Someone, probably you, asked to sign in to the Agent Governance Service with this address.',
    `${OPEN_LINK}\n\n${link}`,
    `Or enter this code on the sign-in page:\n\n${code}`,
    `The link and the code expire in ${lifetimeInWords(minutes)}, and one of them works, once. Never share the code: the service never asks for it.`,
    'If you did not ask for this, do nothing. Nobody is signed in unless the link or the code is used.',
  ),
});

export const invitationMail = ({ link, organization, role, inviter, minutes }: InvitationMail): MailText => {
  const name = organizationInWords(organization);
  return {
    subject: `Invitation to ${name}`,
    text: paragraphs(
      `You are invited to join ${name} on the Agent Governance Service, as ${ROLE_IN_WORDS[role]}.`,
      `The invitation is from ${inviter}.`,
      `${OPEN_LINK}\n\n${link}`,
      `The link works once and expires in ${lifetimeInWords(minutes)}. A newer invitation replaces this one.`,
      'If you did not expect this, ask the person who invited you, or do nothing. You join only if you press the button.',
    ),
  };
};

/** A passkey was added to an account. Both names were chosen by whoever was signed in: they are not to be trusted. */
export interface PasskeyMail {
  readonly organization: string;
  readonly name: string;
  /** RFC 3339, in UTC. */
  readonly at: string;
  /** Where the person sees the passkeys, and where to sign in. */
  readonly passkeys: string;
  readonly login: string;
}

export const passkeyMail = ({ organization, name, at, passkeys, login }: PasskeyMail): MailText => {
  const where = organizationInWords(organization);
  return {
    subject: 'A passkey was added to your account',
    text: paragraphs(
      `The passkey ${inQuotes(name, 'without a name')} was added to your account in ${where} on the Agent Governance Service, at ${minuteOf(at)} UTC.`,
      `It signs you in without a mail. Your passkeys are listed here:\n\n${passkeys}`,
      `If this was not you, somebody else is signed in as you. Sign in by e-mail, remove the passkey and sign out everywhere, and tell an owner of the organization:\n\n${login}`,
    ),
  };
};

/** An argument that is marked as an amount of money. */
interface ApprovalMailAmount {
  /** Named by an admin. */
  readonly argument: string;
  readonly sent: number;
  /** `€80.00` */
  readonly display: string;
}

/** Who may approve a call: what is asked, and of all arguments those alone that are marked as amounts of money. */
export interface ApprovalMailFacts {
  readonly link: string;
  /** Names that agents and admins chose: not to be trusted. */
  readonly organization: string;
  readonly tool: string;
  /** What the tool does, after `wants to`; null where it has no title. */
  readonly title: string | null;
  readonly agent: string;
  readonly amounts: readonly ApprovalMailAmount[];
  /** Null where the policy's default asks. */
  readonly rule: string | null;
  /** RFC 3339, in UTC. */
  readonly expiresAt: string;
  /** False where it can only be looked at. */
  readonly isDecidedByLink: boolean;
}

export const approvalMail = ({
  link,
  organization,
  tool,
  title,
  agent,
  amounts,
  rule,
  expiresAt,
  isDecidedByLink,
}: ApprovalMailFacts): MailText => {
  const [call, by] = [inQuotes(tool, 'a tool'), inQuotes(agent, 'an agent')];
  const wants = title === null ? `call ${call}` : `${inQuotes(title, 'do something')} with ${call}`;
  return {
    subject: `Approval needed: ${call}`,
    text: paragraphs(
      `The agent ${by} of ${organizationInWords(organization)} wants to ${wants}. The call waits for approval.`,
      ...amounts.map(amountInWords),
      `${rule === null ? 'The policy’s default requires approval.' : `The rule ${inQuotes(rule, 'of the policy')} requires approval.`} Decide by ${minuteOf(expiresAt)} UTC.`,
      isDecidedByLink
        ? `Open this link to read the call and to approve or deny it:\n\n${link}`
        : `Open this link to read the call. Decide it in the Console:\n\n${link}`,
      'The link is for you alone. Do not forward it: whoever opens it can decide in your name. Nothing is decided until you press a button on the page.',
    ),
  };
};

/** A space that no mail program breaks a line at is one like any other where text is plain. */
const amountInWords = ({ argument, sent, display }: ApprovalMailAmount): string =>
  `${inQuotes(argument, 'An argument')} is ${display.replaceAll('\u00a0', ' ')} (sent as ${sent}, in minor units).`;

/** `2026-10-01 12:00` of `2026-10-01T12:00:59.000Z`: rather too early than too late. */
const minuteOf = (timestamp: string): string => timestamp.slice(0, 16).replace('T', ' ');

const OPEN_LINK = 'Open this link and press the button on the page:';

const paragraphs = (...all: readonly string[]): string => `${all.join('\n\n')}\n`;

const MINUTES_PER_HOUR = 60;
const MINUTES_PER_DAY = 1_440;

/** In the largest unit that says it exactly. */
const lifetimeInWords = (minutes: number): string => {
  if (minutes % MINUTES_PER_DAY === 0) return counted(minutes / MINUTES_PER_DAY, 'day');
  if (minutes % MINUTES_PER_HOUR === 0) return counted(minutes / MINUTES_PER_HOUR, 'hour');
  return counted(minutes, 'minute');
};

const counted = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? '' : 's'}`;

const MAX_NAME_CHARACTERS = 120;

/** Controls, what is not seen, what turns the direction of the text, and halves of characters. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}]/gu;

/**
 * One line in quotation marks, so that it is seen where the name begins and ends: a name that says "your account is closed"
 * stays the name of something.
 */
const organizationInWords = (name: string): string => inQuotes(name, 'an organization');

const inQuotes = (name: string, nameless: string): string => {
  const line = name
    .normalize('NFC')
    .replace(/\s+/gu, ' ')
    .replace(UNSEEN, '')
    .replace(/["“”„]/gu, "'")
    .replace(/ {2,}/g, ' ')
    .trim();
  const characters = [...line];
  if (characters.length === 0) return nameless;
  const kept = characters.length > MAX_NAME_CHARACTERS ? `${cut(characters)}…` : line;
  return `"${kept}"`;
};

const cut = (characters: readonly string[]): string =>
  characters
    .slice(0, MAX_NAME_CHARACTERS - 1)
    .join('')
    .trimEnd();
