import { createTransport } from 'nodemailer';
import {
  InvalidMailAddress,
  type MailSender,
  parseMailSender,
  parseSmtpUrl,
  requireMailAddress,
  type SmtpServer,
} from '../config/index.js';
import { type Mail, Mailer, type MailOutcome } from './mailer.js';
import { failedOutcome } from './failed-outcome.js';

/** Of each wait for the server: connection, greeting, TLS, answer. */
const STEP_TIMEOUT_MS = 10_000;
/** Of all of them: a server that says a byte now and then is away too. */
const SEND_TIMEOUT_MS = 30_000;

const MESSAGE_ID = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,188}[A-Za-z0-9])?$/;

export interface SmtpMailerOptions {
  readonly server: SmtpServer;
  readonly sender: MailSender;
  /** Who signs certificates that are trusted. Default: whom Node.js knows, with NODE_EXTRA_CA_CERTS. */
  readonly authorities?: readonly string[];
  readonly stepTimeoutMs?: number;
  readonly sendTimeoutMs?: number;
}

/** Sends by SMTP, each mail on a connection of its own: they are few, and an idle connection would be one more to lose. */
export class SmtpMailer extends Mailer {
  private readonly transport;

  constructor(private readonly options: SmtpMailerOptions) {
    super();
    this.transport = createTransport(transportOptions(options));
  }

  /** From the settings SMTP_URL and SERVICE_MAIL_FROM, which were judged when they were read. */
  static of(smtpUrl: string, mailFrom: string): SmtpMailer {
    return new SmtpMailer({ server: parseSmtpUrl(smtpUrl), sender: parseMailSender(mailFrom) });
  }

  override async send({ to, subject, text, messageId }: Mail): Promise<MailOutcome> {
    if (!MESSAGE_ID.test(messageId)) throw new TypeError('a Message-ID is name@domain, without brackets');
    const { name, address: from } = this.options.sender;
    try {
      // Judged here too, although the type says so: what the library makes of an address that was not is other recipients.
      const recipient = requireMailAddress(to);
      await this.transport.sendMail({
        envelope: { from, to: [recipient] },
        from: { name: name ?? '', address: from },
        to: { name: '', address: recipient },
        subject: subject.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' '),
        text,
        // Exact for lines of any length: a link is never broken.
        textEncoding: 'quoted-printable',
        messageId: `<${messageId}>`,
        // RFC 3834: nobody's holiday notice answers it.
        headers: { 'Auto-Submitted': 'auto-generated' },
        signal: AbortSignal.timeout(this.options.sendTimeoutMs ?? SEND_TIMEOUT_MS),
      });
      return { outcome: 'sent' };
    } catch (error) {
      if (error instanceof InvalidMailAddress) return { outcome: 'refused', code: 'invalid_address' };
      return failedOutcome(error);
    }
  }
}

const transportOptions = ({ server, sender, authorities, stepTimeoutMs = STEP_TIMEOUT_MS }: SmtpMailerOptions) => ({
  host: server.host,
  port: server.port,
  secure: server.encryption === 'implicit',
  requireTLS: server.encryption === 'starttls',
  ignoreTLS: server.encryption === 'none',
  ...(server.login === null ? {} : { auth: { user: server.login.user, pass: server.login.password } }),
  // How it greets the server; the name of the machine is nobody's business.
  name: sender.address.slice(sender.address.lastIndexOf('@') + 1),
  tls: { minVersion: 'TLSv1.2' as const, ...(authorities === undefined ? {} : { ca: [...authorities] }) },
  connectionTimeout: stepTimeoutMs,
  greetingTimeout: stepTimeoutMs,
  socketTimeout: stepTimeoutMs,
  dnsTimeout: stepTimeoutMs,
  disableFileAccess: true,
  disableUrlAccess: true,
  logger: false,
});
