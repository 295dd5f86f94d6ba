import type { LoggedTransaction } from '#libs/domain/connectors';
import {
  ChangeLogSource,
  type FollowedLog,
  type FollowEnd,
  hasPassed,
  type LogFacts,
  LogUnreachable,
} from '#libs/domain/witness';

const lsn = (number: number): string => `0/${number.toString(16).toUpperCase()}`;

/** The low 32 bits of a transaction's id, its changed rows and its marks. */
type Committed = Partial<Pick<LoggedTransaction, 'xid' | 'marks' | 'tables'>>;

/**
 * The change log of a database in memory, with the rules that a decoder relies on: one reader a slot, nothing acknowledged
 * before it is recorded, and what was not acknowledged sent again to the next reader.
 */
export class FakeChangeLog extends ChangeLogSource {
  systemId = '7301';
  timeline = 1;
  isReachable = true;
  slot: { confirmed: string; isLost: boolean } | null = null;
  /** How often a reader began. */
  reads = 0;
  readers = 0;
  mostReaders = 0;
  slotsDropped = 0;
  private head = 0x100;
  private readonly transactions: LoggedTransaction[] = [];
  private wake: () => void = () => undefined;
  private isCut = false;
  private lied: string | null = null;

  get position(): string {
    return lsn(this.head);
  }

  /** @returns where the log stands then */
  commit(committed: Committed = {}): string {
    this.head += 0x10;
    const end = this.position;
    this.transactions.push({
      ...{ xid: this.head, commit_lsn: end, end_lsn: end, committed_at: '2026-10-01T12:00:00.000Z' },
      ...{ tables: [], rows: [], marks: [], ...committed },
    });
    this.wake();
    return end;
  }

  /** The log grows by what is in no publication. */
  grow(bytes: number): void {
    this.head += bytes;
  }

  /** Says, once, that everything before this place was sent. */
  lie(place: string): void {
    this.lied = place;
    this.wake();
  }

  /** The connection of the reader breaks. */
  cut(): void {
    this.isCut = true;
    this.wake();
  }

  override inspect(): Promise<LogFacts> {
    if (!this.isReachable) return Promise.reject(new LogUnreachable('away'));
    const { systemId, timeline, position: head, slot } = this;
    return Promise.resolve({ systemId, timeline, head, slot: slot && { ...slot } });
  }

  override createSlot(): Promise<void> {
    this.slot ??= { confirmed: this.position, isLost: false };
    return Promise.resolve();
  }

  override dropSlot(): Promise<'dropped' | 'in_use'> {
    if (!this.isReachable) return Promise.reject(new LogUnreachable('away'));
    if (this.readers > 0) return Promise.resolve('in_use');
    if (this.slot !== null) this.slotsDropped += 1;
    this.slot = null;
    return Promise.resolve('dropped');
  }

  override async follow(log: FollowedLog): Promise<FollowEnd> {
    if (!this.isReachable) throw new LogUnreachable('away');
    if (this.readers > 0) return 'slot_in_use';
    this.isCut = false;
    this.reads += 1;
    this.readers += 1;
    this.mostReaders = Math.max(this.mostReaders, this.readers);
    try {
      return await this.send(log);
    } finally {
      this.readers -= 1;
    }
  }

  private async send({ signal, onStarted, onTransaction, onPosition }: FollowedLog): Promise<FollowEnd> {
    onStarted();
    // Nothing is said of a place that the slot has confirmed.
    let told = this.slot?.confirmed ?? '0/0';
    for (;;) {
      if (signal.aborted) return 'aborted';
      if (this.isCut) return 'connection_lost';
      if (this.lied !== null) onPosition(this.lied);
      this.lied = null;
      const { slot } = this;
      if (slot === null) return 'slot_missing';
      if (slot.isLost) return 'slot_invalidated';
      const next = this.transactions.find(({ end_lsn }) => !hasPassed(slot.confirmed, end_lsn));
      if (next === undefined) {
        if (!hasPassed(told, this.position)) onPosition((told = this.position));
        await this.rung(signal);
        continue;
      }
      await onTransaction(next);
      slot.confirmed = next.end_lsn;
      onPosition((told = next.end_lsn));
    }
  }

  private rung(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}
