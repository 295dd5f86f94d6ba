import { sha256Hex } from '#libs/crypto';
import type { Logger } from '#libs/domain/kernel';
import { MailSender, type MailOutcome, type OutgoingMail } from '#libs/domain/people';
import { type Mailer, requireMailAddress } from '../mail/index.js';

/** Sends by the deployment's mail server. The log learns of what went wrong, and of no address. */
export class SmtpMailSender extends MailSender {
  /** @param host of {base_url}: the right side of each Message-ID */
  constructor(
    private readonly mailer: Mailer,
    private readonly host: string,
    private readonly logger: Logger,
  ) {
    super();
  }

  override async send(id: string, { to, subject, text }: OutgoingMail): Promise<MailOutcome> {
    // Made from the id, so that a mail sent again after a crash is the same mail to whoever reads it.
    const messageId = `${sha256Hex(`service/message-id/v1\n${id}`).slice(0, 40)}@${this.domain}`;
    const result = await this.mailer.send({ to: requireMailAddress(to), subject, text, messageId });
    if (result.outcome === 'refused') {
      this.logger.warn('the mail server refused a mail for good; it is not sent again', {
        mail: id,
        code: result.code,
      });
    } else if (result.outcome === 'away') {
      const { code, advice } = result;
      this.logger.warn('the mail server took no mail; it is tried again', { mail: id, code, advice });
    }
    return result.outcome;
  }

  /** An IPv6 address, in brackets, is none that a Message-ID may end with. */
  private get domain(): string {
    return /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(this.host) ? this.host : 'localhost';
  }
}
