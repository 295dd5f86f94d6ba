import { Injectable } from '@nestjs/common';
import { statusOf, type ActionStatus } from '#libs/domain/gate';
import { actionChannel, Bus, Clock, orgChannel, type ActionId, type EndSignal, type OrgId } from '#libs/domain/kernel';
import { Bell } from '../bell.js';
import { ActionReader, type ReadAction } from './action-reader.js';

/** A waiting request reads the action at least this often, so a lost message of the bus only costs this much time. */
const READ_AGAIN_MS = 1_000;

/** The request that waits. */
export interface Waiter {
  readonly org: OrgId;
  /**
   * Called at each look.
   * @throws if the wait must end, because the caller's key has ended or there is a Stop
   */
  readonly stillAllowed: () => Promise<void>;
}

export interface Patience {
  readonly waitMs: number;
  /** Aborted if the client has gone or may no longer wait. */
  readonly ended: EndSignal;
}

/** The messages that tell a waiting request to look again, and how it begins. */
interface Signs {
  readonly channels: readonly string[];
  readonly isSign: (message: string) => boolean;
  readonly isNew: boolean;
  readonly mayBeSealed: boolean;
}

/** Waits for changes of an action. Subscribes to the bus before it reads, so no change is missed in between. */
@Injectable()
export class AwaitAction {
  constructor(
    private readonly reader: ActionReader,
    private readonly bus: Bus,
    private readonly clock: Clock,
  ) {}

  /**
   * Waits until the action is sealed, needs a person's decision or the agent's report, or the wait ends. Null if there
   * is no such action.
   * @param isNew the action was appended just now. Unless its deed was in the same commit it cannot have settled yet,
   *   so the first look waits for a message
   * @param mayBeSealed the deed may have been in the same commit, and its message may have come before the subscription
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
      // The state that the caller sees; another attempt does not change it.
      first ??= read.action.state;
      return read.action.state !== first;
    });
  }

  /**
   * Waits until the action is sealed, whoever it still waits for, or the wait ends.
   * @param mayWait called at each look while it is not sealed
   * @throws whatever `mayWait` throws: a Stop ends the wait at once, and the action continues
   */
  async sealed(
    id: ActionId,
    caller: Waiter,
    patience: Patience,
    mayWait: () => Promise<unknown>,
  ): Promise<ReadAction | null> {
    const isSign = (message: string): boolean => message !== 'recorded';
    const channels = [actionChannel(id), orgChannel(caller.org)];
    const signs = { channels, isSign, isNew: false, mayBeSealed: true };
    return this.until({ id, org: caller.org }, signs, patience, async (read) => {
      await caller.stillAllowed();
      if (read === null || read.deed !== null) return true;
      await mayWait();
      return false;
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

/** Statuses in which the service itself has nothing left to do. */
const AT_REST: readonly ActionStatus[] = ['pending_approval', 'authorized'];
