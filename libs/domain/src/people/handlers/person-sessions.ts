import {
  DomainError,
  idOf,
  streamRef,
  timestampOf,
  userChannel,
  type Actor,
  type Bus,
  type Clock,
  type CommandMetadata,
  type CommandRunner,
  type FoldedStreams,
  type OrgId,
  type Randomness,
  type SessionId,
  type UserId,
} from '../../kernel/index.js';
import { activeMembershipOf, type Membership } from '../membership.js';
import { organizationDecider } from '../organization.decider.js';
import type { LivingOrganization } from '../organization.state.js';
import type { NewSessionRow, PeopleDirectory, SessionRow, SessionRows } from '../people.ports.js';
import { SECRET_BYTES, secretHash, secretText } from '../secrets.js';
import { sessionDecider, type SessionEnd, type SignedInBy } from '../session.decider.js';
import { endedSession, isToldEnd } from '../session-ends.js';
import { SESSION_ABSOLUTE_MS, SESSION_END_TOLD_MS, SESSION_IDLE_MS, SESSION_TOUCH_MS } from '../session-limits.js';

/** Where a request of a person comes from: what its session row shows the person. */
export interface ClientPlace {
  readonly network: string;
  readonly userAgent: string | null;
}

/** A session whose person is a member right now. */
export interface LiveSession {
  readonly row: SessionRow;
  readonly organization: LivingOrganization;
  readonly member: Membership;
}

/** A session that was just made, with its secrets: they are shown once, in cookies. */
export interface OpenedSession {
  readonly row: NewSessionRow;
  readonly token: string;
  readonly csrf: string;
}

/** What a person belongs to. */
export interface Belonging {
  readonly organization: LivingOrganization;
  readonly member: Membership;
}

export interface SessionParts {
  readonly rows: SessionRows;
  readonly people: PeopleDirectory;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

/** Sessions of people: judged on every request by row and streams together, listed, ended. */
export class PersonSessions {
  constructor(
    private readonly runner: CommandRunner,
    private readonly streams: FoldedStreams,
    private readonly parts: SessionParts,
    private readonly bus: Bus,
  ) {}

  /**
   * @param token the cookie's value
   * @param isRequest moves the idle end; false where nobody asks for anything now
   * @throws {DomainError} session_expired, whatever is wrong with it; it says why a session ended to whoever holds its cookie
   */
  async judge(token: string, isRequest: boolean): Promise<LiveSession> {
    const hash = secretHash(token);
    const row = hash === null ? null : await this.parts.rows.find(hash);
    const nowMs = this.parts.clock.nowMs();
    if (hash !== null && row === null)
      throw endedSession(await this.parts.rows.endOf(hash, nowMs - SESSION_END_TOLD_MS));
    if (row === null || nowMs >= row.expiresAtMs || nowMs >= row.idleExpiresAtMs) throw endedSession(null);
    const { session, org } = await this.streams.loadAll({
      session: streamRef(sessionDecider, row.session),
      org: streamRef(organizationDecider, row.org),
    });
    const { state } = session;
    const isOwn = state.status === 'started' && state.user === row.user && state.membership === row.membership;
    const member = org.state.status === 'none' ? undefined : org.state.members.get(row.membership);
    if (!isOwn || org.state.status === 'none' || member?.status !== 'active') {
      // Its row is still there where a crash came between the end and the row.
      const why = state.status === 'ended' ? state.why : isOwn && member?.status === 'removed' ? 'removed' : null;
      throw endedSession(why);
    }
    if (isRequest) await this.touch(row, nowMs);
    return { row, organization: org.state, member };
  }

  /** What the person is an active member of, in the order of the ids of the organizations. */
  async belongings(user: UserId): Promise<readonly Belonging[]> {
    const orgs = await this.parts.people.orgsOf(user);
    const refs = Object.fromEntries(orgs.map((org) => [org, streamRef(organizationDecider, org)]));
    const loaded = await this.streams.loadAll(refs);
    return orgs.flatMap((org) => {
      const state = loaded[org]?.state;
      if (state === undefined || state.status === 'none') return [];
      const member = activeMembershipOf(state.members, user);
      return member === null ? [] : [{ organization: state, member }];
    });
  }

  /**
   * The row and the secrets of a session that is about to start. Nothing is stored.
   * @param expiresAtMs the absolute end, where it is not a new one
   */
  prepare(
    { organization, member }: Belonging,
    via: SignedInBy,
    place: ClientPlace,
    expiresAtMs: number | null = null,
  ): OpenedSession {
    const { randomness, clock } = this.parts;
    const nowMs = clock.nowMs();
    const [token, csrf] = [secretText(randomness.bytes(SECRET_BYTES)), secretText(randomness.bytes(SECRET_BYTES))];
    const end = expiresAtMs ?? nowMs + SESSION_ABSOLUTE_MS;
    const row: NewSessionRow = {
      session: idOf('ses', randomness.bytes(16)),
      user: member.user,
      org: organization.org,
      membership: member.membership,
      via,
      tokenHash: secretHash(token) as Uint8Array,
      csrfHash: secretHash(csrf) as Uint8Array,
      createdAtMs: nowMs,
      lastSeenAtMs: nowMs,
      expiresAtMs: end,
      idleExpiresAtMs: Math.min(end, nowMs + SESSION_IDLE_MS),
      ...place,
    };
    return { row, token, csrf };
  }

  /** Makes a stored row a session. @throws {DomainError} session_expired: the person signed out everywhere meanwhile */
  async start({ session, org, user, membership, via }: SessionRow, requestId: string | null): Promise<void> {
    const data = { session, org, user, membership, via };
    const metadata = this.metadata(session, user, org, requestId);
    await this.runner.run(sessionDecider, session, { type: 'StartSession', data, metadata }, metadata);
  }

  /**
   * In one organization after the other; what was first ends with the second.
   * @throws {DomainError} not_found: no member there; session_expired: the first was ended meanwhile, so there is no second
   */
  async switchTo(current: LiveSession, org: OrgId, place: ClientPlace, requestId: string): Promise<OpenedSession> {
    const belonging = (await this.belongings(current.row.user)).find(({ organization }) => organization.org === org);
    if (belonging === undefined) throw new DomainError('not_found', { param: 'org' });
    const opened = this.prepare(belonging, 'org_switch', place, current.row.expiresAtMs);
    await this.parts.rows.insert(opened.row);
    await this.start(opened.row, requestId);
    const { user } = current.row;
    const actor = { type: 'user', id: user } as const;
    try {
      await this.end(current.row, 'switched', actor, requestId, `:${opened.row.session}`);
    } catch (error) {
      if (error instanceof DomainError) await this.end(opened.row, 'ended', actor, requestId);
      throw error;
    }
    return opened;
  }

  /** Those that open something, newest first; of every organization that the person is still a member of. */
  async ofUser(user: UserId): Promise<readonly SessionRow[]> {
    const nowMs = this.parts.clock.nowMs();
    const rows = (await this.parts.rows.ofUser(user)).filter(
      (row) => nowMs < row.expiresAtMs && nowMs < row.idleExpiresAtMs,
    );
    const refs = Object.fromEntries(rows.map((row) => [row.session, streamRef(sessionDecider, row.session)]));
    const [loaded, belongings] = await Promise.all([this.streams.loadAll(refs), this.belongings(user)]);
    const memberships = new Set(belongings.map(({ member }) => member.membership));
    return rows.filter(
      ({ session, membership }) => memberships.has(membership) && loaded[session]?.state.status === 'started',
    );
  }

  /** One's own, by its id. @throws {DomainError} not_found */
  async endOwn(user: UserId, session: SessionId, requestId: string): Promise<SessionRow> {
    const row = (await this.parts.rows.ofUser(user)).find((candidate) => candidate.session === session);
    if (!row) throw new DomainError('not_found');
    await this.end(row, 'ended', { type: 'user', id: user }, requestId);
    return row;
  }

  /** @param step tells apart what must not count as one command tried twice */
  async end(row: SessionRow, why: SessionEnd, actor: Actor, requestId: string | null, step = ''): Promise<void> {
    const { session, org, user } = row;
    const metadata = { ...this.metadata(`${session}:${why}${step}`, user, org, requestId), actor };
    const command = { type: 'EndSession' as const, data: { session, org, user, why }, metadata };
    await this.runner.run(sessionDecider, session, command, metadata);
    // By now the stream keeps it shut, whatever becomes of the row.
    await this.parts.rows.remove(session, isToldEnd(why) ? { why, atMs: this.parts.clock.nowMs() } : null);
    this.bus.publish(userChannel(user), session);
  }

  /**
   * Every session of the person, in every organization, those that are about to start included. Asked for again until there
   * are none: one that was switching meanwhile has its successor among them.
   */
  async endAll(user: UserId, why: SessionEnd, actor: Actor, requestId: string | null): Promise<number> {
    for (let ended = 0; ;) {
      const rows = await this.parts.rows.ofUser(user);
      if (rows.length === 0) return ended;
      for (const row of rows) await this.end(row, why, actor, requestId);
      ended += rows.length;
    }
  }

  private async touch(row: SessionRow, nowMs: number): Promise<void> {
    if (nowMs - row.lastSeenAtMs < SESSION_TOUCH_MS) return;
    await this.parts.rows.touch(row, nowMs, Math.min(row.expiresAtMs, nowMs + SESSION_IDLE_MS));
  }

  private metadata(commandId: string, user: UserId, org: OrgId, requestId: string | null): CommandMetadata {
    const now = timestampOf(this.parts.clock.nowMs());
    return { org, actor: { type: 'user', id: user }, requestId, commandId, now };
  }
}
