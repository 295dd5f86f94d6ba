import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly isEncrypted: boolean;
  /** As it came, headers and all. */
  readonly raw: string;
}

/** An answer of the server's own, as `code words`. */
export const answer = (responseCode: number): Error =>
  Object.assign(new Error('of ada@example.com, says canary'), { responseCode });

/** A real mail server on a port of its own, with what it has taken. */
export class MailServer {
  readonly mails: ReceivedMail[] = [];
  /** Users and passwords that were tried. */
  readonly logins: string[] = [];
  connections = 0;
  private readonly server: SMTPServer;

  constructor(options: SMTPServerOptions = {}) {
    this.server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      logger: false,
      onConnect: (_session, done) => {
        this.connections += 1;
        done();
      },
      onAuth: ({ username, password }, _session, done) => {
        this.logins.push(`${username}:${password}`);
        if (password === 'right') done(null, { user: username });
        else done(answer(535));
      },
      onData: (stream, { envelope, secure }, done) => {
        const pieces: Buffer[] = [];
        stream.on('data', (piece: Buffer) => pieces.push(piece));
        stream.on('end', () => {
          const { mailFrom, rcptTo } = envelope;
          this.mails.push({
            from: mailFrom === false ? '' : mailFrom.address,
            to: rcptTo.map(({ address }) => address),
            isEncrypted: secure,
            raw: Buffer.concat(pieces).toString('utf8'),
          });
          done();
        });
      },
      ...options,
    });
    // A client that leaves in the middle is what some tests are about.
    this.server.on('error', () => undefined);
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return (this.server.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }
}
