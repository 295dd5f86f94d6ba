import { describe, expect, it } from 'vitest';
import { approvalMail, signInMail, type MailText } from '#libs/domain/people';
import { KeptMails } from '#libs/infra/people';
import { linkMailedTo, tokenOf } from './printed-mails.js';

const SIGN_IN = `http://127.0.0.1:4000/auth/confirm#token=${'s'.repeat(43)}`;
const signIn = signInMail({ link: SIGN_IN, code: '123456', minutes: 15 });
const approval = approvalMail({
  link: `http://127.0.0.1:4000/approve#token=${'a'.repeat(43)}`,
  organization: 'Nordlicht Outdoor',
  tool: 'shop.refund_order',
  title: 'refund an order',
  agent: 'refund-agent',
  amounts: [{ argument: 'amount', sent: 8_000, display: '€80.00' }],
  rule: 'large-refunds',
  expiresAt: '2026-10-01T12:00:59.000Z',
  isDecidedByLink: true,
});

const printed = async (...mails: readonly (readonly [to: string, mail: MailText])[]): Promise<string> => {
  let text = 'agent-governance-service is up\n';
  const sender = new KeptMails((more) => (text += more));
  for (const [to, mail] of mails) await sender.send('mail', { to, ...mail });
  return text;
};

describe('linkMailedTo', () => {
  it('finds the sign-in link behind another mail to the same person', async () => {
    const text = await printed(['ada@example.com', approval], ['ada@example.com', signIn]);
    expect(linkMailedTo('ada@example.com', text)).toBe(SIGN_IN);
    expect(tokenOf(SIGN_IN)).toBe('s'.repeat(43));
  });

  it('takes no other person’s', async () => {
    const text = await printed(['ada@example.com', approval], ['ada@example.com.au', signIn]);
    expect(linkMailedTo('ada@example.com', text)).toBeUndefined();
  });

  it('waits for the end of a mail', async () => {
    const text = await printed(['ada@example.com', signIn]);
    expect(linkMailedTo('ada@example.com', text.slice(0, -1))).toBeUndefined();
  });
});
