import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { approvalMail, invitationMail, passkeyMail, signInMail } from './mail-texts.js';

const link = `https://ags.example/auth/confirm#token=${'t'.repeat(43)}`;
const invitation = { link, organization: 'Acme', role: 'admin', inviter: 'anna@example.com', minutes: 10_080 } as const;

describe('the mail of who asks to sign in', () => {
  const { subject, text } = signInMail({ link, code: '314159', minutes: 15 });

  it('has the link and the code, each on a line of its own', () => {
    expect(text.split('\n')).toEqual(expect.arrayContaining([link, '314159']));
    expect(subject).toBe('Your sign-in link and code');
  });

  it('says how long they work, and what to do for who did not ask', () => {
    expect(text).toContain('The link and the code expire in 15 minutes');
    expect(text).toContain('If you did not ask for this, do nothing.');
  });

  it('does not show the code where a locked screen shows subjects', () => expect(subject).not.toMatch(/\d/));
});

describe('the mail about a new passkey', () => {
  const about = {
    organization: 'Acme',
    name: 'Work laptop',
    at: '2026-10-01T12:00:59.000Z',
    passkeys: 'https://ags.example/app/settings/sessions',
    login: 'https://ags.example/login',
  };

  it('says which, where and when, and what to do for who did not add it', () => {
    const { subject, text } = passkeyMail(about);
    expect(subject).toBe('A passkey was added to your account');
    expect(text).toContain('The passkey "Work laptop" was added to your account in "Acme"');
    expect(text).toContain('at 2026-10-01 12:00 UTC.');
    expect(text).toContain('remove the passkey and sign out everywhere');
    expect(text.split('\n')).toEqual(expect.arrayContaining([about.passkeys, about.login]));
  });

  it('holds no token: whoever reads it can do nothing by it', () => expect(passkeyMail(about).text).not.toContain('#'));

  it('keeps names that try to say something in quotation marks, on their line', () => {
    const { text } = passkeyMail({ ...about, name: 'x" was removed.\n\nNothing to do', organization: '' });
    expect(text).toContain(`The passkey "x' was removed. Nothing to do" was added to your account in an organization`);
  });
});

describe('the mail of who is invited', () => {
  it('says to what, as what and for how long', () => {
    const { subject, text } = invitationMail(invitation);
    expect(subject).toBe('Invitation to "Acme"');
    expect(text).toContain('You are invited to join "Acme" on the Agent Governance Service, as an admin.');
    expect(text).toContain('The link works once and expires in 7 days.');
    expect(text).toContain('If you did not expect this, ask the person who invited you, or do nothing.');
    expect(text).toContain('The invitation is from anna@example.com.');
    expect(text.split('\n')).toContain(link);
  });

  it.each([
    ['viewer', 'as a viewer.'],
    ['owner', 'as an owner.'],
  ] as const)('names the role %s', (role, said) =>
    expect(invitationMail({ ...invitation, role }).text).toContain(said),
  );

  it.each([
    ['Müller & Söhne', '"Müller & Söhne"'],
    ['  two\r\n\tlines  ', '"two lines"'],
    ['Acme\r\nBcc: q@q.com', '"Acme Bcc: q@q.com"'],
    ['a\u202eb\u2066c\u200bd\u0000e\u2028f', '"abcde f"'],
    ['Acme" is closed. "', '"Acme\' is closed. \'"'],
    ['\u200b \n', 'an organization'],
    ['', 'an organization'],
    ['x'.repeat(121), `"${'x'.repeat(119)}…"`],
    ['x'.repeat(120), `"${'x'.repeat(120)}"`],
    ['😀'.repeat(121), `"${'😀'.repeat(119)}…"`],
    ['half \ud83d', '"half"'],
  ])('writes the name %j as %s', (organization, written) => {
    const { subject, text } = invitationMail({ ...invitation, organization });
    expect(subject).toBe(`Invitation to ${written}`);
    expect(text).toContain(`join ${written} on`);
  });

  it('keeps its form whatever an organization calls itself', () => {
    const lines = invitationMail(invitation).text.split('\n').length;
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (organization) => {
        const { subject, text } = invitationMail({ ...invitation, organization });
        expect([...subject].length).toBeLessThanOrEqual(14 + 122);
        expect(subject).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
        expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
        expect(text.split('\n')).toHaveLength(lines);
      }),
    );
  });
});

describe('every mail', () => {
  it.each([
    ['sign-in', signInMail({ link, code: '314159', minutes: 15 }), null],
    ['invitation', invitationMail(invitation), ['anna@example.com']],
  ])('%s names no address but an inviter’s and one link, and ends with a line', (_, { text }, addresses) => {
    expect(text.match(/[^ ]+@[a-z.]+[a-z]/g)).toEqual(addresses);
    expect(text.match(/https?:/g)).toHaveLength(1);
    expect(text).toMatch(/[.]\n$/);
  });
});

describe('the mail of who may approve', () => {
  const asked = {
    link: `https://ags.example/auth/approve#token=${'t'.repeat(43)}`,
    organization: 'Acme',
    tool: 'pay.refund',
    title: null,
    agent: 'support-1',
    amounts: [],
    rule: 'large-refunds',
    expiresAt: '2026-10-01T12:34:56.789Z',
    isDecidedByLink: true,
  };

  it('says which agent wants which tool, by which rule and until when', () => {
    const { subject, text } = approvalMail(asked);
    expect(subject).toBe('Approval needed: "pay.refund"');
    expect(text).toContain('The agent "support-1" of "Acme" wants to call "pay.refund"');
    expect(text).toContain('The rule "large-refunds" requires approval. Decide by 2026-10-01 12:34 UTC.');
    expect(text).toContain('to approve or deny it');
    expect(text.split('\n')).toContain(asked.link);
  });

  it('says what the tool does where it has a title, and every amount as money beside what is sent', () => {
    const amounts = [
      { argument: 'amount', sent: 8_000, display: '€80.00' },
      { argument: 'fee', sent: 1_500, display: 'KWD\u00a01.500' },
    ];
    const { text } = approvalMail({ ...asked, title: 'refund a customer', amounts });
    expect(text).toContain(
      '"support-1" of "Acme" wants to "refund a customer" with "pay.refund". The call waits for approval.',
    );
    expect(text).toContain('\n\n"amount" is €80.00 (sent as 8000, in minor units).\n\n');
    expect(text).toContain('\n\n"fee" is KWD 1.500 (sent as 1500, in minor units).\n\n');
  });

  it('says so where the default asks, and where the Console alone decides', () => {
    expect(approvalMail({ ...asked, rule: null }).text).toContain('The policy’s default requires approval.');
    const { text } = approvalMail({ ...asked, isDecidedByLink: false });
    expect(text).toContain('Decide it in the Console');
    expect(text).not.toContain('approve or deny');
  });

  it('keeps its form whatever an agent and a tool are called', () => {
    const given = { ...asked, amounts: [{ argument: 'amount', sent: 1, display: '€0.01' }] };
    const lines = approvalMail(given).text.split('\n').length;
    const anything = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(anything, anything, anything, anything, (tool, agent, title, argument) => {
        const amounts = [{ argument, sent: 1, display: '€0.01' }];
        const { subject, text } = approvalMail({ ...given, tool, agent, title, amounts });
        expect(subject).not.toMatch(/[\p{Cc}\p{Cf}]/u);
        expect(text.split('\n')).toHaveLength(lines);
      }),
    );
  });
});
