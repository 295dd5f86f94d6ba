import { streamRef, timestampOf, type Clock, type FoldedStreams, type Randomness } from '../../kernel/index.js';
import { inviterInWords, inviterOf } from '../inviter.js';
import { invitationMail, passkeyMail, signInMail, type MailText } from '../mails/mail-texts.js';
import { organizationDecider } from '../organization.decider.js';
import type {
  MailDesk,
  MailOrder,
  MailOrdersPage,
  MailSender,
  NewToken,
  NoticeOrder,
  OutgoingMail,
  PeopleDirectory,
  SignInHasher,
  WaitingMail,
} from '../people.ports.js';
import { SECRET_BYTES, secretHash, secretText } from '../secrets.js';
import { CODE_DIGITS, INVITATION_MS, SIGN_IN_MS } from '../session-limits.js';
import type { PersonSessions } from './person-sessions.js';

/** The row of an invitation and of a passkey's mail is written before its event; where the event has not come by then, it never will. */
const ORDER_PATIENCE_MS = 60_000;
/** A worker that has taken a mail and says nothing for so long has ended. */
const SEND_LEASE_MS = 60_000;
const ORDERS_AT_ONCE = 100;
/** How long it is worth something to hear of a new passkey. */
const NOTICE_MS = 3 * 24 * 60 * 60_000;

/** After each try that found the mail server away; then the last one again and again, while the mail is good for something. */
const RETRY_MS = [5_000, 30_000, 2 * 60_000, 5 * 60_000, 30 * 60_000] as const;

export interface MailClerkParts {
  readonly people: PeopleDirectory;
  readonly desk: MailDesk;
  readonly hasher: SignInHasher;
  readonly sessions: Pick<PersonSessions, 'belongings'>;
  readonly sender: MailSender;
  /** Where a person sees the passkeys, and the page to sign in on. */
  readonly pageOf: (page: 'passkeys' | 'login') => string;
  /** Whether what a mail asks for is still to be done, by the mail's id. Asked right before it is sent. */
  readonly isStillOwed: (id: string) => Promise<boolean>;
}

type OfLogin = Extract<MailOrder, { kind: 'login' }>;
type OfInvitation = Extract<MailOrder, { kind: 'invitation' }>;

/** Writes the mails that were ordered and sends them. Every step may be repeated, by this worker or by another. */
export class MailClerk {
  constructor(
    private readonly streams: FoldedStreams,
    private readonly parts: MailClerkParts,
    private readonly sources: { readonly clock: Clock; readonly randomness: Randomness },
    private readonly linkOf: (token: string) => string,
  ) {}

  /** Turns orders into tokens and mails. */
  async write(): Promise<void> {
    // All of them: the oldest may be invitations that wait for an event that never comes, and hold up nobody.
    for (let last: MailOrder | null = null; ;) {
      const page: MailOrdersPage = await this.parts.desk.orders(ORDERS_AT_ONCE, last);
      for (const order of page.orders) {
        await (order.kind === 'login' ? this.writeLogin(order) : this.writeInvitation(order));
      }
      last = page.orders.at(-1) ?? null;
      if (last === null || !page.hasMore) break;
    }
    // Nobody waits for these.
    for (const notice of await this.parts.desk.notices(ORDERS_AT_ONCE)) await this.writeNotice(notice);
  }

  /** Sends what is due, so many at most. @returns how many were tried */
  async send(limit = Infinity): Promise<number> {
    const { desk } = this.parts;
    for (let tried = 0; tried < limit; tried += 1) {
      const waiting = await desk.takeDue(this.sources.clock.nowMs(), SEND_LEASE_MS);
      if (waiting === null) return tried;
      await this.sendOne(waiting);
    }
    return limit;
  }

  /**
   * A token for every address that was asked for, known or not: what follows takes the same time then. Only who is a member
   * somewhere gets a mail, written as it was typed at the invitation.
   */
  private async writeLogin(order: OfLogin): Promise<void> {
    const { people, sessions, desk } = this.parts;
    const found = await people.find(order.addressHash);
    const user = found !== null && (await sessions.belongings(found)).length > 0 ? found : null;
    const { token, hash } = this.secret();
    const code = this.code();
    const codeHash = this.parts.hasher.codeHash(order.addressHash, code);
    const row: NewToken = { tokenHash: hash, user, codeHash, expiresAtMs: order.requestedAtMs + SIGN_IN_MS };
    const to = user === null ? undefined : (await people.addressesOf([user])).get(user);
    const mail = signInMail({ link: this.linkOf(token), code, minutes: SIGN_IN_MS / 60_000 });
    const isWritten = await desk.write(order, row, to === undefined ? null : outgoing(to, mail));
    // Enough were written in this hour: the request ends without a word, as for an address that nobody has.
    if (!isWritten) await desk.drop(order);
  }

  private async writeInvitation(order: OfInvitation): Promise<void> {
    const { desk } = this.parts;
    const { state } = await this.streams.load(streamRef(organizationDecider, order.org));
    const members = state.status === 'none' ? [] : [...state.members.values()];
    const member = members.find(({ invitation, status }) => status === 'invited' && invitation === order.invitation);
    if (member === undefined || state.status === 'none') return this.waitFor(order);
    const { token, hash } = this.secret();
    // Of two first invitations of one address the order was written before it was settled who the person is.
    const { role, user } = member;
    const row: NewToken = { tokenHash: hash, user, codeHash: null, expiresAtMs: order.expiresAtMs };
    const mail = invitationMail({
      link: this.linkOf(token),
      organization: state.name,
      role,
      inviter: inviterInWords(await inviterOf(this.parts.people, member.invitedBy)),
      minutes: INVITATION_MS / 60_000,
    });
    await desk.write(order, row, outgoing(order.address.spelling, mail));
  }

  /** Also of one that was removed at once: whoever was in the account may have removed it, so as to be unseen. */
  private async writeNotice(order: NoticeOrder): Promise<void> {
    const { state, causations } = await this.streams.load(streamRef(organizationDecider, order.org));
    if (state.status === 'none' || !causations.has(order.command)) return this.waitFor(order);
    const mail = passkeyMail({
      organization: state.name,
      name: order.name,
      at: timestampOf(order.requestedAtMs),
      passkeys: this.parts.pageOf('passkeys'),
      login: this.parts.pageOf('login'),
    });
    await this.parts.desk.notify(order, outgoing(order.address.spelling, mail), order.requestedAtMs + NOTICE_MS);
  }

  private async waitFor(order: OfInvitation | NoticeOrder): Promise<void> {
    const ageMs = this.sources.clock.nowMs() - order.requestedAtMs;
    if (ageMs > ORDER_PATIENCE_MS) await this.parts.desk.drop(order);
  }

  private async sendOne({ id, mail, tries, expiresAtMs }: WaitingMail): Promise<void> {
    const { desk, sender, isStillOwed } = this.parts;
    const nowMs = this.sources.clock.nowMs();
    // Where nobody can say it, this one waits for its lease to end.
    if (nowMs >= expiresAtMs || !(await isStillOwed(id))) return desk.giveUp(id, nowMs);
    switch (await sender.send(id, mail)) {
      case 'sent':
        return desk.sent(id, nowMs);
      case 'refused':
        return desk.giveUp(id, nowMs);
      case 'kept':
        return desk.retryAt(id, expiresAtMs);
      case 'away':
        return desk.retryAt(id, nowMs + (RETRY_MS[Math.min(tries, RETRY_MS.length - 1)] as number));
    }
  }

  private secret(): { readonly token: string; readonly hash: Uint8Array } {
    const token = secretText(this.sources.randomness.bytes(SECRET_BYTES));
    return { token, hash: secretHash(token) as Uint8Array };
  }

  private code(): string {
    const { randomness } = this.sources;
    return decimalCode((length) => randomness.bytes(length), CODE_DIGITS);
  }
}

const outgoing = (to: string, { subject, text }: MailText): OutgoingMail => ({ to, subject, text });

const UINT32 = 2 ** 32;

/** Every code is as likely as every other: values beyond the last whole multiple are drawn again. */
export const decimalCode = (bytes: (length: number) => Uint8Array, digits: number): string => {
  const codes = 10 ** digits;
  const end = UINT32 - (UINT32 % codes);
  for (;;) {
    const drawn = bytes(4);
    const value = new DataView(drawn.buffer, drawn.byteOffset, 4).getUint32(0);
    if (value < end) return String(value % codes).padStart(digits, '0');
  }
};
