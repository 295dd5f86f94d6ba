import { sha256 } from '#libs/crypto';
import {
  DomainError,
  MAIL_CHANNEL,
  streamRef,
  timestampOf,
  type Clock,
  type CommandMetadata,
  type CommandRunner,
  type FoldedStreams,
  type Bus,
  type Randomness,
  type RequestId,
} from '../../kernel/index.js';
import { siteOf } from '../client-site.js';
import { inviterOf, type Inviter } from '../inviter.js';
import { readMailAddress, type MailAddress } from '../mail-address.js';
import type { Membership } from '../membership.js';
import { organizationDecider } from '../organization.decider.js';
import type { LivingOrganization } from '../organization.state.js';
import type {
  CodeMisses,
  LoginToken,
  LoginTokens,
  MailOrders,
  PeopleDirectory,
  SessionRows,
  SignInHasher,
} from '../people.ports.js';
import { SECRET_BYTES, secretHash, secretText } from '../secrets.js';
import type { SignedInBy } from '../session.decider.js';
import type { Belonging, ClientPlace, OpenedSession, PersonSessions } from './person-sessions.js';

export interface SignInParts {
  readonly tokens: LoginTokens;
  readonly orders: MailOrders;
  readonly misses: CodeMisses;
  readonly people: PeopleDirectory;
  readonly rows: SessionRows;
  readonly hasher: SignInHasher;
}

export interface SignInSources {
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly bus: Bus;
}

/** What a link would do, told before it is used. */
export interface LoginPreview {
  readonly purpose: LoginToken['purpose'];
  /** Null for an owner whom nobody has given an address yet. */
  readonly email: string | null;
  readonly organization: LivingOrganization | null;
  readonly role: Membership['role'] | null;
  /** Of an invitation. */
  readonly inviter: Inviter | null;
  readonly expiresAtMs: number;
}

export interface SignedIn {
  readonly opened: OpenedSession;
  readonly next: string | null;
}

/** Who asks for a mail, as far as anybody can tell before it is used. */
export interface MailRequester {
  readonly requestId: string;
  /** Of the client: its address, or its /64. */
  readonly network: string;
  /** What the browser got when it asked before. */
  readonly browser: string | null;
}

export interface SignInRequest {
  readonly place: ClientPlace;
  readonly requestId: RequestId;
}

const CODE = /^[0-9]{6}$/;

/** Signing in without passwords (rule PEOPLE-4): by the link of an e-mail, by its code, by an invitation. */
export class SignIn {
  constructor(
    private readonly runner: CommandRunner,
    private readonly streams: FoldedStreams,
    private readonly sessions: PersonSessions,
    private readonly parts: SignInParts,
    private readonly sources: SignInSources & { readonly signUp: 'invite' | 'closed' },
  ) {}

  /**
   * The same for every address: one row written, none read.
   * @returns what the browser keeps, so that a code is worth something in it alone
   */
  async request(address: MailAddress, next: string | null, by: MailRequester): Promise<string> {
    const { clock, randomness, bus } = this.sources;
    const browser = secretText(randomness.bytes(SECRET_BYTES));
    const browserHash = secretHash(browser) as Uint8Array;
    await this.parts.orders.requestLogin({
      id: by.requestId,
      address,
      browserHash,
      formerBrowserHash: by.browser === null ? null : secretHash(by.browser),
      site: siteOf(by.network),
      next,
      requestedAtMs: clock.nowMs(),
    });
    bus.publish(MAIL_CHANNEL, '');
    return browser;
  }

  /** Uses nothing. @throws {DomainError} login_link_invalid */
  async preview(token: string): Promise<LoginPreview> {
    const { found, hash, user } = await this.found(token);
    const invited = found.purpose === 'invite' ? await this.invited(found, hash) : null;
    const addresses = await this.parts.people.addressesOf([user]);
    const email = addresses.get(user) ?? null;
    const belongings = invited === null ? await this.sessions.belongings(user) : [];
    if (invited === null && belongings.length === 0) throw new DomainError('login_link_invalid');
    const only = belongings.length === 1 ? belongings[0] : undefined;
    return {
      purpose: found.purpose,
      email,
      organization: invited?.organization ?? only?.organization ?? null,
      role: invited?.member.role ?? only?.member.role ?? null,
      inviter: invited && (await inviterOf(this.parts.people, invited.member.invitedBy)),
      expiresAtMs: found.expiresAtMs,
    };
  }

  /** Of two requests with one token exactly one signs in. @throws {DomainError} login_link_invalid */
  async byToken(token: string, request: SignInRequest): Promise<SignedIn> {
    const { found, hash, user } = await this.found(token);
    const via: SignedInBy = found.purpose === 'invite' ? 'invite' : 'link';
    const belonging = found.purpose === 'invite' ? await this.join(found, hash, request) : await this.last(user);
    if (belonging === null) throw new DomainError('login_link_invalid');
    const opened = this.sessions.prepare(belonging, via, request.place);
    const isFirst = await this.parts.tokens.use(hash, this.sources.clock.nowMs(), opened.row);
    if (!isFirst) throw new DomainError('login_link_invalid');
    await this.sessions.start(opened.row, request.requestId);
    return { opened, next: found.next };
  }

  /**
   * Every miss is the same: a wrong code, another browser, an unknown address, too many attempts.
   * @param browser the cookie that {@link request} gave
   * @throws {DomainError} login_code_invalid
   */
  async byCode(email: string, code: string, browser: string | null, request: SignInRequest): Promise<SignedIn> {
    const { misses, tokens, hasher } = this.parts;
    const nowMs = this.sources.clock.nowMs();
    // While codes are being guessed all over the deployment, links go on and codes do not.
    if (await misses.areTooMany(nowMs)) throw new DomainError('login_code_invalid');
    // What is no address or code is counted like any other miss, on the row of nobody.
    const address = readMailAddress(email) ?? { normal: '', spelling: '' };
    const addressHash = hasher.addressHash(address);
    const attempt = {
      addressHash,
      codeHash: hasher.codeHash(addressHash, CODE.test(code) ? code : ''),
      browserHash: (browser === null ? null : secretHash(browser)) ?? sha256(''),
      nowMs,
    };
    const trial = await tokens.tryCode(attempt, async ({ user }) => {
      const belonging = user === null ? null : await this.last(user);
      return belonging === null ? null : this.sessions.prepare(belonging, 'code', request.place);
    });
    if (trial === 'wrong' || trial === 'nothing_to_guess') {
      // What could not have been right is no guess: counted here, it would pause everybody's codes for the price of a request.
      if (trial === 'wrong' && CODE.test(code)) await misses.count(nowMs, request.place.network);
      // Whether it is to be recorded is found out afterwards, and never while somebody waits for this answer.
      if (trial === 'wrong') this.sources.bus.publish(MAIL_CHANNEL, '');
      throw new DomainError('login_code_invalid');
    }
    await this.sessions.start(trial.opened.row, request.requestId);
    return { opened: trial.opened, next: trial.token.next };
  }

  private async found(token: string) {
    const hash = secretHash(token);
    const found = hash === null ? null : await this.parts.tokens.find(hash, this.sources.clock.nowMs());
    if (hash === null || found === null || found.user === null) throw new DomainError('login_link_invalid');
    return { found, hash, user: found.user };
  }

  /** Where the person is to begin: in the organization used last, else in the first; null where there is none any more. */
  private async last(user: NonNullable<LoginToken['user']>): Promise<Belonging | null> {
    const [belongings, rows] = [await this.sessions.belongings(user), await this.parts.rows.ofUser(user)];
    const used = [...rows].sort((a, b) => b.lastSeenAtMs - a.lastSeenAtMs).map(({ org }) => org);
    const found = used.flatMap((org) => belongings.filter(({ organization }) => organization.org === org));
    return found[0] ?? belongings[0] ?? null;
  }

  /** The membership that an invitation is for, judged as using it would be; nothing is recorded. */
  private async invited(token: LoginToken, hash: Uint8Array): Promise<Belonging> {
    const { folded, organization, command } = await this.joining(token, hash, null);
    const { data, metadata } = command;
    const isReplay = folded.causations.has(metadata.commandId);
    if (!isReplay) organizationDecider.decide(command, organization);
    const member = organization.members.get(data.membership);
    if (!member || (isReplay && member.status !== 'active')) throw new DomainError('login_link_invalid');
    return { organization, member };
  }

  /** Recorded before the token is used: whoever comes between finds the same event by its command id. */
  private async join(token: LoginToken, hash: Uint8Array, { requestId }: SignInRequest): Promise<Belonging> {
    const { organization, command } = await this.joining(token, hash, requestId);
    const { folded } = await this.runner.run(organizationDecider, organization.org, command, command.metadata);
    const state = folded.state as LivingOrganization;
    const member = state.members.get(command.data.membership);
    if (member?.status !== 'active') throw new DomainError('login_link_invalid');
    return { organization: state, member };
  }

  /** What an invitation's link asks for. @throws {DomainError} login_link_invalid: it asks for nothing any more */
  private async joining(token: LoginToken, hash: Uint8Array, requestId: RequestId | null) {
    const { org, user, invitation } = token;
    if (this.sources.signUp === 'closed' || org === null) throw new DomainError('login_link_invalid');
    const folded = await this.streams.load(streamRef(organizationDecider, org));
    const { state: organization } = folded;
    if (organization.status === 'none') throw new DomainError('login_link_invalid');
    const own = [...organization.members.values()].filter((member) => member.user === user);
    const open = own.find((member) => member.invitation === invitation);
    const membership = open?.membership ?? own.find(({ status }) => status === 'active')?.membership;
    if (membership === undefined || invitation === null) throw new DomainError('login_link_invalid');
    const metadata: CommandMetadata = {
      org,
      actor: { type: 'user', id: user },
      requestId,
      commandId: `join:${Buffer.from(hash).toString('hex')}`,
      now: timestampOf(this.sources.clock.nowMs()),
    };
    const command = { type: 'JoinOrganization' as const, data: { membership, invitation }, metadata };
    return { folded, organization, command };
  }
}
