import { Injectable } from '@nestjs/common';
import { statusOf, type ActionStatus } from '#libs/domain/gate';
import { actionChannel, Bus, Clock, orgChannel, type ActionId, type EndSignal, type OrgId } from '#libs/domain/kernel';
import { Bell } from '../bell.js';
import { ActionReader, type ReadAction } from './action-reader.js';

/** Whoever waits reads again at least this often: a lost message costs this much and nothing else. */
const READ_AGAIN_MS = 1_000;

/** Whose organization's action it is. */
export interface Waiter {
  readonly org: OrgId;
  /** Asked at each look. @throws what ends the wait: the key has ended, or a Stop */
  readonly stillAllowed: () => Promise<void>;
}

export interface Patience {
  readonly waitMs: number;
  /** Aborted when nobody waits for the answer any more, or nobody may. */
  readonly ended: EndSignal;
}

/** What tells a waiter to look again. */
interface Signs {
  readonly channels: readonly string[];
  readonly isSign: (message: string) => boolean;
  readonly isNew: boolean;
  readonly mayBeSealed: boolean;
}

/** Waits on the bus for an action to get on. Subscribes before it reads, so no change falls between. */
@Injectable()
export class AwaitAction {
  constructor(
    private readonly reader: ActionReader,
    private readonly bus: Bus,
    private readonly clock: Clock,
  ) {}

  /**
   * Until the action is sealed, waits for a person or for the agent that is to run it, or patience ends. Null when there is
   * no such action.
   * @param isNew what is waited for began just now: unless its deed went with it, it cannot have settled, so the first look
   *   waits for a sign
   * @param mayBeSealed its deed may have gone into the log with it, and the sign before anybody looked for one
   */
  async settled(
    id: ActionId,
    caller: Waiter,
    patience: Patience,
    { isNew, mayBeSealed }: { isNew: boolean; mayBeSealed: boolean },
  ): Promise<ReadAction | null> {
    const isSign = (message: string): boolean => message !== 'recorded';
    const signs = { channels: [actionChannel(id)], isSign, isNew, mayBeSealed };
    return this.until({ id, org: caller.org }, signs, patience, async (read) => {
      await caller.stillAllowed();
      return read === null || read.deed !== null || AT_REST.includes(statusOf(read.action, false));
    });
  }

  /**
   * The long poll (rule GATE-10): answers when the action is settled, when its state changes, or after the wait. A Stop
   * or the end of the caller's key ends the wait at once.
   */
  async changed(id: ActionId, caller: Waiter, patience: Patience): Promise<ReadAction | null> {
    const channels = [actionChannel(id), orgChannel(caller.org)];
    const signs = { channels, isSign: () => true, isNew: false, mayBeSealed: false };
    let first: string | undefined;
    return this.until({ id, org: caller.org }, signs, patience, async (read) => {
      await caller.stillAllowed();
      if (read === null || read.deed !== null) return true;
      // The state that a caller sees: another attempt is none of its changes.
      first ??= read.action.state;
      return read.action.state !== first;
    });
  }

  private async until(
    { id, org }: { id: ActionId; org: OrgId },
    { channels, isSign, isNew, mayBeSealed }: Signs,
    { waitMs, ended }: Patience,
    isEnough: (read: ReadAction | null) => Promise<boolean>,
  ): Promise<ReadAction | null> {
    const deadline = this.clock.monotonicMs() + waitMs;
    const bell = new Bell();
    const leave = channels.map((channel) =>
      this.bus.subscribe(channel, (message) => {
        if (isSign(message)) bell.ring();
      }),
    );
    try {
      let sealed = mayBeSealed ? await this.reader.readIfSeenSealed(id, org) : null;
      if (isNew && sealed === null && waitMs > 0) await bell.rungWithin(Math.min(waitMs, READ_AGAIN_MS), ended);
      for (;;) {
        const wasRung = bell.isRung;
        bell.reset();
        if (wasRung) sealed ??= await this.reader.readIfSeenSealed(id, org);
        const read = sealed ?? (await this.reader.read(id, org));
        const remainingMs = deadline - this.clock.monotonicMs();
        if ((await isEnough(read)) || remainingMs <= 0 || ended.aborted) return read;
        await bell.rungWithin(Math.min(remainingMs, READ_AGAIN_MS), ended);
      }
    } finally {
      for (const unsubscribe of leave) unsubscribe();
    }
  }
}

/** Nothing of it is the service's to do. */
const AT_REST: readonly ActionStatus[] = ['pending_approval', 'authorized'];
