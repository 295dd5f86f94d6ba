import type { MailAddress } from '../config/index.js';

export interface Mail {
  /** Its only recipient, judged. */
  readonly to: MailAddress;
  readonly subject: string;
  /** Plain text: nothing in it is read as markup, as a file or as an address to fetch. */
  readonly text: string;
  /**
   * `name@domain`, without brackets: the same for the same mail, however often it is sent, so that mailboxes show one where
   * a crash between the sending and its record made two.
   */
  readonly messageId: string;
}

/**
 * What became of a mail. None of it quotes the server, whose words may hold the address.
 *
 * `sent`: the mail server has taken it, which is not yet that somebody reads it. `refused`: not this mail to this address,
 * now or later. `away`: nothing is known to be wrong with the mail, so it is sent again later; `advice` is for the operator.
 */
export type MailOutcome =
  | { readonly outcome: 'sent' }
  | { readonly outcome: 'refused'; readonly code: string }
  | { readonly outcome: 'away'; readonly code: string; readonly advice: string };

/**
 * Hands mails to whoever delivers them, one by one. Throws only for a fault of the caller. After `away` the mail may have
 * been taken all the same, where the answer was lost: the Message-ID is what makes the second one the same.
 */
export abstract class Mailer {
  abstract send(mail: Mail): Promise<MailOutcome>;
}
