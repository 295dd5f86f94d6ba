import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { SMTPServerOptions } from 'smtp-server';
import { afterEach, describe, expect, it } from 'vitest';
import { GOOD_CERTIFICATE, TEST_AUTHORITY } from '../../../../test/support/certificates.js';
import { parseMailSender, parseSmtpUrl } from '../config/index.js';
import { type Mail, type MailAddress, requireMailAddress, SmtpMailer, type SmtpMailerOptions } from './index.js';
import { answer, MailServer } from './testing/mail-server.js';

const LINK = `https://ags.example/auth/confirm#token=${'a=.b'.repeat(11)}`;
const mail: Mail = {
  to: requireMailAddress('ada@example.com'),
  subject: 'Invitation to "Müller"',
  text: `Open this link:\n\n${LINK}\n\n.\nFrom here on: Grüße\n`,
  messageId: '01h2xcejqtf2nbrexx3vqjhp41@ags.example',
};

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

const start = async (options?: SMTPServerOptions): Promise<{ server: MailServer; port: number }> => {
  const server = new MailServer(options);
  open.push(server);
  return { server, port: await server.listen() };
};

const mailerFor = (url: string, options: Partial<SmtpMailerOptions> = {}): SmtpMailer =>
  new SmtpMailer({
    server: parseSmtpUrl(url),
    sender: parseMailSender('Agent Governance <ags@service.example>'),
    ...options,
  });

/** What a mailbox would show: headers, and the body as it was written. */
const read = (raw: string): { headers: Map<string, string>; text: string } => {
  const [head = '', ...body] = raw.split('\r\n\r\n');
  const lines = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
  const headers = new Map(lines.map((line) => [line.split(': ')[0] as string, line.slice(line.indexOf(': ') + 2)]));
  const bytes = body
    .join('\r\n\r\n')
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return { headers, text: Buffer.from(bytes, 'latin1').toString('utf8').replaceAll('\r\n', '\n') };
};

describe('a mail', () => {
  it('is taken once, by its one recipient, as plain text', async () => {
    const { server, port } = await start();
    expect(await mailerFor(`smtp://127.0.0.1:${port}`).send(mail)).toEqual({ outcome: 'sent' });
    expect(server.mails).toHaveLength(1);
    expect(server.mails[0]).toMatchObject({ from: 'ags@service.example', to: ['ada@example.com'] });
    const { headers, text } = read(server.mails[0]?.raw ?? '');
    expect(text.trimEnd()).toBe(mail.text.trimEnd());
    expect([...headers.keys()].toSorted()).toEqual(
      [
        ...[
          'Auto-Submitted',
          'Content-Transfer-Encoding',
          'Content-Type',
          'Date',
          'From',
          'MIME-Version',
          'Message-ID',
        ],
        ...['Subject', 'To'],
      ].toSorted(),
    );
    expect(Object.fromEntries(headers)).toMatchObject({
      From: 'Agent Governance <ags@service.example>',
      To: 'ada@example.com',
      'Message-ID': `<${mail.messageId}>`,
      'Content-Type': 'text/plain; charset=utf-8',
      'Auto-Submitted': 'auto-generated',
    });
  });

  it('that is sent again is the same to a mailbox', async () => {
    const { server, port } = await start();
    const mailer = mailerFor(`smtp://127.0.0.1:${port}`);
    await Promise.all([mailer.send(mail), mailer.send(mail)]);
    expect(server.mails.map(({ raw }) => read(raw).headers.get('Message-ID'))).toEqual(
      Array(2).fill(`<${mail.messageId}>`),
    );
  });

  it('is from an address alone where the setting has no name', async () => {
    const { server, port } = await start();
    await SmtpMailer.of(`smtp://127.0.0.1:${port}`, 'ags@service.example').send(mail);
    expect(read(server.mails[0]?.raw ?? '').headers.get('From')).toBe('ags@service.example');
  });
});

describe('nothing but one recipient is reached', () => {
  it.each([
    'ada@example.com\r\nBcc: q@q.com',
    'ada@example.com, q@q.com',
    'ada@example.com;q@q.com',
    'Ada <ada@example.com>',
    '"ada@example.com"@q.com',
  ])('by the address %j, which no server hears of', async (text) => {
    const { server, port } = await start();
    const outcome = await mailerFor(`smtp://127.0.0.1:${port}`).send({ ...mail, to: text as MailAddress });
    expect(outcome).toEqual({ outcome: 'refused', code: 'invalid_address' });
    expect(server.connections).toBe(0);
  });

  it.each([
    'Hello\r\nBcc: q@q.com',
    'Hello\nTo: q@q.com\n\nbody',
    'Hello\r\n\r\nbody',
    'Hello\u2028Bcc: q@q.com',
    'Hello\0',
  ])('by the subject %j', async (subject) => {
    const { server, port } = await start();
    await mailerFor(`smtp://127.0.0.1:${port}`).send({ ...mail, subject });
    const { headers } = read(server.mails[0]?.raw ?? '');
    expect([server.mails.length, server.mails[0]?.to]).toEqual([1, ['ada@example.com']]);
    expect([headers.has('Bcc'), headers.get('To'), headers.size]).toEqual([false, 'ada@example.com', 9]);
  });

  it('by a text that looks like the end of a mail and the beginning of another', async () => {
    const { server, port } = await start();
    const text = 'a\r\n.\r\nMAIL FROM:<x@x.com>\r\nRCPT TO:<q@q.com>\r\nDATA\r\n.\r\n\n.\nRCPT TO:<q@q.com>\n';
    await mailerFor(`smtp://127.0.0.1:${port}`).send({ ...mail, text });
    expect(server.mails.map(({ to }) => to)).toEqual([['ada@example.com']]);
  });

  it.each(['<a@b>', 'a@b\r\nBcc: q@q.com', 'a b@c', 'ab', ''])('by the Message-ID %j', async (messageId) => {
    await expect(mailerFor('smtp://127.0.0.1:1').send({ ...mail, messageId })).rejects.toThrow(TypeError);
  });

  it('and no file is read for a text that names one', async () => {
    const { server, port } = await start();
    const text = { path: '/etc/passwd' } as unknown as string;
    await expect(mailerFor(`smtp://127.0.0.1:${port}`).send({ ...mail, text })).resolves.toMatchObject({
      outcome: 'away',
    });
    expect(server.mails).toEqual([]);
  });
});

describe('the answer of a mail server', () => {
  const at = {
    sender: (code: number): SMTPServerOptions => ({ onMailFrom: (_address, _session, done) => done(answer(code)) }),
    recipient: (code: number): SMTPServerOptions => ({ onRcptTo: (_address, _session, done) => done(answer(code)) }),
    message: (code: number): SMTPServerOptions => ({
      onData: (stream, _session, done) => {
        stream.resume();
        stream.on('end', () => done(answer(code)));
      },
    }),
  };

  it.each([
    ['recipient', 550],
    ['recipient', 553],
    ['message', 554],
    ['message', 552],
  ] as const)('to the %s, %s, is for good, and its words stay here', async (stage, code) => {
    const { port } = await start(at[stage](code));
    expect(await mailerFor(`smtp://127.0.0.1:${port}`).send(mail)).toEqual({ outcome: 'refused', code: String(code) });
  });

  it.each([
    ['sender', 451, /^The mail server asks to wait\./],
    ['recipient', 450, /^The mail server asks to wait\./],
    ['message', 452, /^The mail server asks to wait\./],
    ['recipient', 503, /^Check host and port/],
    // The operator's to mend: no mail is lost over it.
    ['sender', 553, /SERVICE_MAIL_FROM/],
    ['sender', 530, /user and password in SMTP_URL/],
  ] as const)('to the %s, %s, is not about the mail', async (stage, code, advice) => {
    const { port } = await start(at[stage](code));
    const outcome = await mailerFor(`smtp://127.0.0.1:${port}`).send(mail);
    expect(outcome).toEqual({ outcome: 'away', code: String(code), advice: expect.stringMatching(advice) });
    expect(JSON.stringify(outcome)).not.toMatch(/ada|canary/);
  });

  it('to a password that is wrong leaves the mail as it was', async () => {
    const { server, port } = await start();
    const outcome = await mailerFor(`smtp://ags:wr%40ng@127.0.0.1:${port}`).send(mail);
    expect(outcome).toEqual({ outcome: 'away', code: '535', advice: 'Check the user and password in SMTP_URL.' });
    expect([server.logins, server.mails]).toEqual([['ags:wr@ng'], []]);
    expect(await mailerFor(`smtp://ags:right@127.0.0.1:${port}`).send(mail)).toEqual({ outcome: 'sent' });
  });
});

describe('encryption', () => {
  const WITH_TLS: SMTPServerOptions = { ...GOOD_CERTIFICATE, disabledCommands: [] };
  const trusting = { authorities: [TEST_AUTHORITY] };
  const noTls = { outcome: 'away', code: 'ETLS', advice: expect.stringContaining('STARTTLS') };

  it('begins by STARTTLS before the password is said', async () => {
    const { server, port } = await start(WITH_TLS);
    const mailer = mailerFor(`smtp://ags:right@127.0.0.1:${port}?tls=required`, trusting);
    expect(await mailer.send(mail)).toEqual({ outcome: 'sent' });
    expect([server.mails[0]?.isEncrypted, server.logins]).toEqual([true, ['ags:right']]);
  });

  it('begins with the connection under smtps', async () => {
    const { server, port } = await start({ ...WITH_TLS, secure: true });
    expect(await mailerFor(`smtps://ags:right@127.0.0.1:${port}`, trusting).send(mail)).toEqual({ outcome: 'sent' });
    expect(server.mails[0]?.isEncrypted).toBe(true);
  });

  it('is demanded: a server without it hears neither password nor mail', async () => {
    const { server, port } = await start();
    const mailer = mailerFor(`smtp://ags:right@127.0.0.1:${port}?tls=required`, trusting);
    expect(await mailer.send(mail)).toEqual(noTls);
    expect([server.logins, server.mails]).toEqual([[], []]);
  });

  it.each([
    'smtp://ags:right@127.0.0.1:PORT?tls=required',
    'smtp://ags:right@127.0.0.1:PORT?tls=optional',
    'smtps://ags:right@127.0.0.1:PORT',
  ])('needs a certificate that is trusted: %s', async (url) => {
    const { server, port } = await start({ ...WITH_TLS, secure: url.startsWith('smtps') });
    expect(await mailerFor(url.replace('PORT', String(port))).send(mail)).toMatchObject({
      outcome: 'away',
      code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      advice: expect.stringContaining('certificate'),
    });
    expect([server.logins, server.mails]).toEqual([[], []]);
  });

  it('is used where it is offered and optional, and done without where it is not offered', async () => {
    const [able, unable] = [await start(WITH_TLS), await start()];
    await mailerFor(`smtp://127.0.0.1:${able.port}?tls=optional`, trusting).send(mail);
    await mailerFor(`smtp://127.0.0.1:${unable.port}?tls=optional`, trusting).send(mail);
    expect([able.server.mails[0]?.isEncrypted, unable.server.mails[0]?.isEncrypted]).toEqual([true, false]);
  });

  it('is not asked of a server on this machine, whatever its certificate', async () => {
    const { server, port } = await start(WITH_TLS);
    expect(await mailerFor(`smtp://127.0.0.1:${port}`).send(mail)).toEqual({ outcome: 'sent' });
    expect(server.mails[0]?.isEncrypted).toBe(false);
  });
});

describe('a mail server that', () => {
  const listen = async (onConnection: (socket: Socket) => void): Promise<number> => {
    const sockets = new Set<Socket>();
    const server: Server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      onConnection(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    open.push({
      close: () => {
        for (const socket of sockets) socket.destroy();
        return new Promise((resolve) => server.close(() => resolve()));
      },
    });
    return (server.address() as AddressInfo).port;
  };

  const away = (code: string) => ({ outcome: 'away', code, advice: expect.stringContaining('SMTP_URL') });

  it('is not there is away', async () => {
    const { server, port } = await start();
    await server.close();
    open.length = 0;
    expect(await mailerFor(`smtp://127.0.0.1:${port}`).send(mail)).toEqual(away('ECONNREFUSED'));
  });

  it.each<[string, (socket: Socket) => void]>([
    ['says nothing', () => undefined],
    ['greets and says nothing more', (socket) => socket.write('220 mail.example\r\n')],
  ])('%s is away when a step has taken its time', async (_, onConnection) => {
    const port = await listen(onConnection);
    const began = Date.now();
    expect(await mailerFor(`smtp://127.0.0.1:${port}`, { stepTimeoutMs: 300 }).send(mail)).toEqual(away('ETIMEDOUT'));
    expect(Date.now() - began).toBeLessThan(5_000);
  });

  it('says a byte now and then is away when all has taken its time', async () => {
    const port = await listen((socket) => {
      const timer = setInterval(() => socket.write('2'), 50);
      socket.on('close', () => clearInterval(timer));
    });
    const mailer = mailerFor(`smtp://127.0.0.1:${port}`, { stepTimeoutMs: 60_000, sendTimeoutMs: 500 });
    expect(await mailer.send(mail)).toEqual(away('EABORT'));
  });

  it.each<[string, string]>([
    ['hangs up', ''],
    ['is none', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
  ])('%s is away', async (_, greeting) => {
    const port = await listen((socket) => socket.end(greeting));
    expect(await mailerFor(`smtp://127.0.0.1:${port}`).send(mail)).toMatchObject({ outcome: 'away' });
  });
});
