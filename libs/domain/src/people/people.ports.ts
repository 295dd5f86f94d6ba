import type { MembershipId, OrgId, SessionId, UserId } from '../kernel/index.js';
import type { MailAddress } from './mail-address.js';
import type { SessionEnd, SignedInBy } from './session.decider.js';

/** Hashes under the deployment's pepper: a stolen database alone tells no address and no code. */
export abstract class SignInHasher {
  /** Of the normal form. */
  abstract addressHash(address: MailAddress): Uint8Array;
  /** Of a code for this address alone. */
  abstract codeHash(addressHash: Uint8Array, code: string): Uint8Array;
}

/**
 * Who has which e-mail address. Rows beside the log: no event holds an address, and no row decides anything that a stream
 * says.
 */
export abstract class PeopleDirectory {
  /**
   * The person of an address: the one who has it already, else the one given. Written before the person's first event.
   * @returns whose it is now
   */
  abstract claim(address: MailAddress, user: UserId): Promise<UserId>;
  abstract find(addressHash: Uint8Array): Promise<UserId | null>;
  /** Whose these addresses are; those that are nobody's are left out. */
  abstract usersAt(addresses: readonly MailAddress[]): Promise<readonly UserId[]>;
  /** Where they read mail now, as it was typed; who was erased is missing. */
  abstract addressesOf(users: readonly UserId[]): Promise<ReadonlyMap<UserId, string>>;
  /** As they were last invited to this organization, whatever address they have by now. */
  abstract invitedAs(org: OrgId, users: readonly UserId[]): Promise<ReadonlyMap<UserId, string>>;
  /**
   * The person reads mail there from now on. The change is under way until {@link endAddressChange}.
   * @param change names it, for whoever finishes it after a crash
   * @returns which change is under way: this one, or one to the same address that was cut off; null: another person has it
   */
  abstract beginAddressChange(user: UserId, address: MailAddress, change: string): Promise<string | null>;
  abstract endAddressChange(user: UserId, change: string): Promise<void>;
  /** Which streams to ask about a person; never a decision. */
  abstract orgsOf(user: UserId): Promise<readonly OrgId[]>;
  abstract noteOrg(user: UserId, org: OrgId): Promise<void>;
  /** The same, and the spelling of the invitation. Written before its event. */
  abstract noteInvitation(user: UserId, org: OrgId, address: MailAddress): Promise<void>;
  /** Removes address, sessions and what is told of their ends, tokens and mails; ids stay. */
  abstract erase(user: UserId): Promise<void>;
}

/** A session as its row knows it. Times are Unix milliseconds. */
export interface SessionRow {
  readonly session: SessionId;
  readonly user: UserId;
  readonly org: OrgId;
  readonly membership: MembershipId;
  readonly via: SignedInBy;
  /** SHA-256 of what the Service-CSRF header must hold. */
  readonly csrfHash: Uint8Array;
  readonly createdAtMs: number;
  readonly lastSeenAtMs: number;
  readonly expiresAtMs: number;
  readonly idleExpiresAtMs: number;
  /** The client's address, or its /64 network. */
  readonly network: string;
  readonly userAgent: string | null;
}

export interface NewSessionRow extends SessionRow {
  /** SHA-256 of the cookie's value, which is stored nowhere. */
  readonly tokenHash: Uint8Array;
}

/** Rows by which a cookie finds its session. A row alone opens nothing: the session's stream must say that it started. */
export abstract class SessionRows {
  abstract find(tokenHash: Uint8Array): Promise<SessionRow | null>;
  abstract insert(row: NewSessionRow): Promise<void>;
  /** Moves the idle end, unless another request has moved it since `lastSeenAtMs` was read. */
  abstract touch(
    row: Pick<SessionRow, 'session' | 'lastSeenAtMs'>,
    seenAtMs: number,
    idleExpiresAtMs: number,
  ): Promise<void>;
  /** Newest first. */
  abstract ofUser(user: UserId): Promise<readonly SessionRow[]>;
  /**
   * The row is gone.
   * @param told what {@link endOf} says to whoever comes with its cookie; null: nothing
   */
  abstract remove(session: SessionId, told: { readonly why: SessionEnd; readonly atMs: number } | null): Promise<void>;
  /** Why the session of a cookie ended, if it did after `sinceMs`; null where nobody was to be told. */
  abstract endOf(tokenHash: Uint8Array, sinceMs: number): Promise<SessionEnd | null>;
}

/** What a link stands for. */
export interface LoginToken {
  readonly purpose: 'sign_in' | 'invite';
  /** Null for a decoy: the row that an unknown address gets, so that a code for it takes the same time. */
  readonly user: UserId | null;
  /** Of an invitation. */
  readonly org: OrgId | null;
  readonly invitation: string | null;
  readonly next: string | null;
  readonly expiresAtMs: number;
}

/** Single-use secrets that were mailed. Only hashes of them are kept. */
export abstract class LoginTokens {
  /** One that could be used now: unused, not replaced by a newer mail, not expired. */
  abstract find(tokenHash: Uint8Array, nowMs: number): Promise<LoginToken | null>;
  /**
   * Uses the token and makes the session row, both or neither.
   * @returns false when another request was first, or the time is over
   */
  abstract use(tokenHash: Uint8Array, nowMs: number, session: NewSessionRow): Promise<boolean>;
  /** One that no mail was asked for: an operator hands it over. It replaces none. */
  abstract issue(token: IssuedToken): Promise<void>;
  /** Every link and code of the person so far is void, and what was ordered or waits to be sent to them is not sent. */
  abstract voidAll(user: UserId, nowMs: number): Promise<void>;
  /**
   * Counts an attempt at the live sign-in token that this browser asked for at an address and, where the code is the token's,
   * uses it and makes the session row, the two of them or neither: of any number of attempts at once five are judged and one
   * wins. A wrong one is one statement, whoever's the address is. Another browser's token is neither judged nor counted.
   * @param opening asked only for the right code of a person, with nothing locked; null: there is nowhere to sign in to
   */
  abstract tryCode<Opened extends { readonly row: NewSessionRow }>(
    attempt: CodeAttempt,
    opening: (token: LoginToken) => Promise<Opened | null>,
  ): Promise<CodeTrial<Opened>>;
}

/** `wrong`: a guess at a live token. `nothing_to_guess`: no code at all could have been right. */
export type CodeTrial<Opened> = { readonly opened: Opened; readonly token: LoginToken } | 'wrong' | 'nothing_to_guess';

/** A mailed code that was guessed wrongly since somebody recorded it last. */
export interface MissedCode {
  readonly tokenHash: Uint8Array;
  /** Null for a decoy. */
  readonly user: UserId | null;
  /** Of the code, in all. */
  readonly misses: number;
  /** The last one. */
  readonly missedAtMs: number;
}

/** What {@link LoginTokens.tryCode} counted, for whoever records it afterwards. */
export abstract class MissedCodes {
  /** Those of decoys too: nobody is to tell by the work which is one. In the order of their last misses. */
  abstract unrecorded(limit: number): Promise<readonly MissedCode[]>;
  abstract recorded(code: MissedCode): Promise<void>;
}

export interface IssuedToken {
  readonly tokenHash: Uint8Array;
  readonly user: UserId;
  readonly addressHash: Uint8Array;
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
}

export interface CodeAttempt {
  readonly addressHash: Uint8Array;
  readonly codeHash: Uint8Array;
  /** SHA-256 of the cookie that the browser got when it asked for the mail. */
  readonly browserHash: Uint8Array;
  readonly nowMs: number;
}

/** Somebody wants a mail with a link and a code. The same row for every address: whether it is known is the worker's to find out. */
export interface LoginRequest {
  readonly id: string;
  readonly address: MailAddress;
  readonly browserHash: Uint8Array;
  /** Of what the browser got when it asked before; null where it brought nothing. */
  readonly formerBrowserHash: Uint8Array | null;
  /** Where it comes from, as {@link siteOf} names it: mails are counted and replaced by it. */
  readonly site: string;
  /** Where the Console goes afterwards. */
  readonly next: string | null;
  readonly requestedAtMs: number;
}

/** A mail to be written once the organization's stream says that this invitation is open. */
export interface InvitationOrder {
  readonly id: string;
  readonly address: MailAddress;
  readonly user: UserId;
  readonly org: OrgId;
  readonly membership: MembershipId;
  readonly invitation: string;
  readonly requestedAtMs: number;
  readonly expiresAtMs: number;
}

/** A mail to be written once the organization's stream says that this passkey was registered. */
export interface PasskeyMailOrder {
  /** The passkey's. */
  readonly id: string;
  readonly address: MailAddress;
  readonly user: UserId;
  readonly org: OrgId;
  readonly membership: MembershipId;
  /** By which the stream knows the event, also of a passkey that was removed at once. */
  readonly command: string;
  readonly name: string;
  readonly requestedAtMs: number;
}

/** What the worker is to write mails about. */
export abstract class MailOrders {
  /** One row written, none read: known and unknown addresses take the same time. */
  abstract requestLogin(request: LoginRequest): Promise<void>;
  /**
   * Written before the invitation's event, and void without it. Again for the same invitation: nothing.
   * @returns null; or, when {@link INVITATIONS_PER_ADDRESS} or {@link INVITATIONS_PER_ORG} were ordered in the hour before,
   *   the time in Unix milliseconds at which one more may be, and then nothing was
   */
  abstract orderInvitation(mail: InvitationOrder): Promise<number | null>;
  /** Written before the passkey's event, and void without it. Again for the same passkey: nothing. */
  abstract orderPasskeyMail(mail: PasskeyMailOrder): Promise<void>;
}

/** A mail as it waits to be sent: text only, to one address. */
export interface OutgoingMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** The token of a mail that is about to be written. The secrets themselves stand in the mail alone. */
export interface NewToken {
  readonly tokenHash: Uint8Array;
  /** Null for a decoy. */
  readonly user: UserId | null;
  /** Of a sign-in. */
  readonly codeHash: Uint8Array | null;
  readonly expiresAtMs: number;
}

/** One that waits to be sent. */
export interface WaitingMail {
  /** Names it for good: a mail sent twice after a crash is the same mail. */
  readonly id: string;
  readonly mail: OutgoingMail;
  /** Before this one. */
  readonly tries: number;
  readonly expiresAtMs: number;
}

export type MailOrder =
  | ({ readonly kind: 'login'; readonly addressHash: Uint8Array } & LoginRequest)
  | ({ readonly kind: 'invitation'; readonly addressHash: Uint8Array } & InvitationOrder);

/** Of a mail without a link. */
export type NoticeOrder = { readonly addressHash: Uint8Array } & PasskeyMailOrder;

export interface MailOrdersPage {
  readonly orders: readonly MailOrder[];
  readonly hasMore: boolean;
}

/** The worker's side of {@link MailOrders}: orders become tokens and mails, and mails are sent. */
export abstract class MailDesk {
  /** Oldest first. @param after the last one of the page before */
  abstract orders(limit: number, after: MailOrder | null): Promise<MailOrdersPage>;
  /**
   * Token, mail and the end of the order, all or nothing. A newer sign-in token of an address replaces the older ones that
   * were asked for from the same site or by the same browser, and nobody else's: a stranger voids no link that a person holds.
   * Of an order that is older than the newest token of its site nothing is written.
   * @param mail null: a decoy, of which nothing is sent
   * @returns false when the order was settled meanwhile, or {@link mayMail} says no
   */
  abstract write(order: MailOrder, token: NewToken, mail: OutgoingMail | null): Promise<boolean>;
  /** Those of mails without a link, oldest first. */
  abstract notices(limit: number): Promise<readonly NoticeOrder[]>;
  /** A mail without a link, and the end of its order, both or neither. Nothing where the person reads mail elsewhere by now. */
  abstract notify(order: NoticeOrder, mail: OutgoingMail, expiresAtMs: number): Promise<void>;
  /** Ends an order of which nothing is to be written. */
  abstract drop(order: MailOrder | NoticeOrder): Promise<void>;
  /** Takes one that is due, so that no other worker does for `leaseMs`. */
  abstract takeDue(nowMs: number, leaseMs: number): Promise<WaitingMail | null>;
  /** What it said is removed: only that it was sent stays. */
  abstract sent(id: string, nowMs: number): Promise<void>;
  abstract retryAt(id: string, dueAtMs: number): Promise<void>;
  abstract giveUp(id: string, nowMs: number): Promise<void>;
  /** Not sent yet, oldest first: what a developer without a mail server reads. */
  abstract waiting(): Promise<readonly WaitingMail[]>;
  /** Rows that ended a day ago. */
  abstract purge(nowMs: number): Promise<number>;
}

/**
 * `sent`: a mail server took it. `refused`: never, as it is. `away`: try again. `kept`: there is no mail server; it stays to be
 * read at the command line.
 */
export type MailOutcome = 'sent' | 'refused' | 'away' | 'kept';

/** Hands a mail to who delivers it. Its words are logged nowhere. */
export abstract class MailSender {
  /** @param id the same for the same mail, also when it is sent again */
  abstract send(id: string, mail: OutgoingMail): Promise<MailOutcome>;
}

/**
 * Misses of codes in the whole deployment: guessing spread over addresses and accounts shows here alone. Of one site
 * ({@link siteOf}) at most {@link MISSES_PER_SITE} count, so that nobody alone takes codes from everybody: what one does, the
 * limits by client and by site end.
 */
export abstract class CodeMisses {
  /**
   * Counts a guess: a wrong code for a live token of the browser that sent it. What could not have been right is none.
   * @param network of the client: its address, or its /64
   */
  abstract count(nowMs: number, network: string): Promise<void>;
  /** So many codes were wrong lately that none is accepted for now. */
  abstract areTooMany(nowMs: number): Promise<boolean>;
}
