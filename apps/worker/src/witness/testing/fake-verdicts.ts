import type { LoggedTransaction } from '#libs/domain/connectors';
import { type ActionId, StoreUnavailable, type Timestamp } from '#libs/domain/kernel';
import type { ChangeLogVerdicts, WaitingAction, WaitingActions } from '#libs/domain/witness';

/** The witness of the gate in memory: an action that was spoken of is spoken of once, and waits no more. */
export class FakeVerdicts implements ChangeLogVerdicts, WaitingActions {
  /** What was recorded, in its order. */
  readonly recorded: (readonly [action: ActionId, said: string])[] = [];
  readonly unknown = new Set<ActionId>();
  reports = 0;
  /** So many reports are refused: before they are written, or after, when only the answer is lost. */
  away: { times: number; when: 'before' | 'after' } = { times: 0, when: 'before' };
  /** Where a report stops until the test lets it go on. */
  gate: Promise<void> | null = null;
  private readonly waiting = new Map<ActionId, WaitingAction>();

  /** By itself of a call that began after its log was followed. */
  wait(action: ActionId, commitLsn: string | null, startedAt = '9999-12-31T23:59:59.999Z' as Timestamp): void {
    this.waiting.set(action, { action, commitLsn, startedAt });
  }

  of(): Promise<readonly WaitingAction[]> {
    return Promise.resolve([...this.waiting.values()]);
  }

  allOf(): Promise<readonly WaitingAction[]> {
    return this.of();
  }

  async report(action: ActionId, attempt: number, seen: LoggedTransaction): Promise<'recorded' | 'known' | 'not_ours'> {
    this.reports += 1;
    await this.gate;
    const isAway = this.away.times > 0;
    if (isAway) this.away.times -= 1;
    if (isAway && this.away.when === 'before') throw new StoreUnavailable('away');
    if (this.unknown.has(action)) return 'not_ours';
    const isNew = this.say(action, `${attempt} at ${seen.end_lsn}`);
    if (isAway) throw new StoreUnavailable('the answer is lost');
    return isNew ? 'recorded' : 'known';
  }

  reportAbsence(action: ActionId, reason: string): Promise<void> {
    this.say(action, reason);
    return Promise.resolve();
  }

  giveUp(action: ActionId, reason: string): Promise<void> {
    this.say(action, reason);
    return Promise.resolve();
  }

  private say(action: ActionId, said: string): boolean {
    this.waiting.delete(action);
    if (this.recorded.some(([known]) => known === action)) return false;
    this.recorded.push([action, said]);
    return true;
  }
}
