import type { NodemailerError } from 'nodemailer';
import type { MailOutcome } from './mailer.js';

/** What nodemailer tells of a failure, as far as it is looked at: its words may hold the address. */
interface Failure {
  readonly kind: string;
  readonly command: string;
  /** The server's answer, or else what the network or the certificate had; only digits and names. */
  readonly code: string;
  /** Of the server's answer; null where there was none. */
  readonly status: number | null;
}

/**
 * `refused` only where the server says for good that it does not take this mail to this address: a 5xx to the recipient or
 * to the message. A 5xx to anything before that, such as the password, is about the settings, and the mail is not lost
 * over them. 503 says that commands came out of order, which no mail is to blame for.
 *
 * @throws what is no failure of a mail server
 */
export const failedOutcome = (error: unknown): MailOutcome => {
  const failure = failureOf(error);
  const { command, code, status } = failure;
  const isAboutThisMail = command === 'RCPT TO' || command === 'DATA';
  if (isAboutThisMail && status !== null && status >= 500 && status !== 503) return { outcome: 'refused', code };
  return { outcome: 'away', code, advice: adviceFor(failure) };
};

const failureOf = (error: unknown): Failure => {
  const { code: kind, originalCode, command, responseCode } = error as Partial<NodemailerError>;
  if (!(error instanceof Error) || typeof kind !== 'string') throw error;
  const status = responseCode ?? null;
  return {
    kind,
    command: command ?? '',
    code: kind === 'ETLS' ? kind : String(status ?? originalCode ?? kind),
    status,
  };
};

/** What OpenSSL and Node.js call a certificate that is not trusted, or TLS that is none. */
const TLS_FAULT = /CERT|SIGNATURE|ISSUER|CHAIN|^ERR_(?:TLS|SSL)/;

const adviceFor = ({ kind, command, code, status }: Failure): string => {
  if (status !== null && status < 500) return 'The mail server asks to wait. The mail is sent again later.';
  if (kind === 'EAUTH' || status === 530) return 'Check the user and password in SMTP_URL.';
  if (kind === 'ETLS') {
    return 'Check that the mail server offers STARTTLS. ?tls=optional in SMTP_URL allows mail in the clear.';
  }
  if (TLS_FAULT.test(code)) {
    return 'Check that the mail server has a certificate for the host in SMTP_URL, of an authority that is trusted (NODE_EXTRA_CA_CERTS adds one), and speaks TLS there under smtps.';
  }
  if (command === 'MAIL FROM') return 'Check that the mail server lets its user send from SERVICE_MAIL_FROM.';
  if (kind === 'EDNS') return 'Check the host in SMTP_URL.';
  return 'Check host and port in SMTP_URL, and that the mail server runs and can be reached.';
};
