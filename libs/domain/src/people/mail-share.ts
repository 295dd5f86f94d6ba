import { MAILS_OF_ALL_SITES, MAILS_OF_STRANGERS, MAILS_PER_HOUR } from './session-limits.js';

/** The sign-in mails of one address in the last hour, as a request for one more finds them. */
export interface MailsOfHour {
  /** That the site of the request asked for. */
  readonly ofSite: number;
  readonly ofAllSites: number;
  /** Whether the person has a session there: then it is no stranger who asks. */
  readonly isFamiliar: boolean;
}

/**
 * Whether one more is written (rule PEOPLE-6). Each site has five of its own, so that nobody uses up another one's. A
 * mailbox is not to be flooded from many sites either: then the first mail of a site comes before further ones of
 * others.
 */
export const mayMail = ({ ofSite, ofAllSites, isFamiliar }: MailsOfHour): boolean => {
  if (ofSite >= MAILS_PER_HOUR) return false;
  return isFamiliar || ofAllSites < (ofSite === 0 ? MAILS_OF_STRANGERS : MAILS_OF_ALL_SITES);
};
