import type { EndSignal } from '#libs/domain/kernel';
import type { EgressDoor } from '#libs/infra/egress';

import { DatabaseSession, type SessionAddress } from './database-session.js';

/** Of one connector. More calls at once open connections of their own, which end with them. */
const KEPT_SESSIONS = 4;
/** Unused, and since it was checked, however busy it is. */
const KEPT_FOR_MS = 30_000;

/** A session to work with, and whether it was used before: one that was may have ended meanwhile. */
export interface TakenSession {
  readonly session: DatabaseSession;
  readonly isReused: boolean;
}

/** Sessions that were cleanly ended and wait for the next call of the same connector, config and credential. */
export class SessionPool {
  /** Checked too long ago: a role may be another by now, and a slot or a publication gone. */
  private readonly aged = new WeakSet<DatabaseSession>();
  private readonly kept = new Map<string, { readonly session: DatabaseSession; readonly timer: NodeJS.Timeout }[]>();

  constructor(
    private readonly door: Pick<EgressDoor, 'connect'>,
    private readonly keptForMs = KEPT_FOR_MS,
  ) {}

  /**
   * @param key organization, connector, digest of its config, version of its credential: a session is shared by nobody else
   * @param check what a new session must pass before it is given to anybody
   * @throws {EgressFailure} {SessionRefused} and whatever `check` throws; the session has ended then
   */
  async take(
    key: string,
    address: SessionAddress,
    signal: EndSignal,
    check: (session: DatabaseSession) => Promise<void>,
  ): Promise<TakenSession> {
    const kept = this.takeKept(key);
    if (kept !== null) return { session: kept, isReused: true };
    const session = await DatabaseSession.open(this.door, address, signal);
    try {
      await check(session);
      setTimeout(() => this.aged.add(session), this.keptForMs).unref();
      return { session, isReused: false };
    } catch (error) {
      session.destroy();
      throw error;
    }
  }

  /** Takes a session back that is outside of any transaction. */
  give(key: string, session: DatabaseSession): void {
    const waiting = this.kept.get(key) ?? [];
    if (session.hasEnded || this.aged.has(session) || waiting.length >= KEPT_SESSIONS) {
      session.destroy();
      return;
    }
    const timer = setTimeout(() => this.forget(key, session), this.keptForMs);
    timer.unref();
    waiting.push({ session, timer });
    this.kept.set(key, waiting);
  }

  private takeKept(key: string): DatabaseSession | null {
    for (;;) {
      const last = this.kept.get(key)?.at(-1);
      if (last === undefined) return null;
      this.drop(key, last.session);
      if (!last.session.hasEnded && !this.aged.has(last.session)) return last.session;
      last.session.destroy();
    }
  }

  private forget(key: string, session: DatabaseSession): void {
    this.drop(key, session);
    session.destroy();
  }

  private drop(key: string, session: DatabaseSession): void {
    const waiting = this.kept.get(key) ?? [];
    for (const kept of waiting) if (kept.session === session) clearTimeout(kept.timer);
    const left = waiting.filter((kept) => kept.session !== session);
    if (left.length === 0) this.kept.delete(key);
    else this.kept.set(key, left);
  }
}
