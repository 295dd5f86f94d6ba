import { MailSender, type MailOutcome, type OutgoingMail } from '#libs/domain/people';

/** Above and below a mail, so that it stands out between lines of the log. */
const EDGE = `  |${'='.repeat(78)}`;

/**
 * Where no mail server is set: mails stay in the outbox, which `ags mail outbox` shows. In development each is written to the
 * terminal as well, never to the log.
 */
export class KeptMails extends MailSender {
  /** @param show null: shown nowhere by itself */
  constructor(private readonly show: ((text: string) => void) | null) {
    super();
  }

  override send(_id: string, { to, subject, text }: OutgoingMail): Promise<MailOutcome> {
    const indented = text.replace(/^/gm, '  | ');
    this.show?.(`\n  Mail to ${to}: ${subject}\n${EDGE}\n${indented}\n${EDGE}\n\n`);
    return Promise.resolve('kept');
  }
}
