import type { LoggedTransaction } from '#libs/domain/connectors';
import type { Clock } from '#libs/domain/kernel';
import { ChangeLogFault } from './change-log-fault.js';
import type { DialledConnection } from './dialled-client.js';
import { formatLsn, parseLsn } from './lsn.js';
import { type FoundLog, type LogListener, ReplicationConnection } from './replication-connection.js';
import { checkedSlot } from './slots.js';
import { type AssembledTransaction, TransactionAssembler } from './transaction-assembler.js';

/** One change log to follow, and what is done with it. */
export interface FollowedLog {
  readonly connection: DialledConnection;
  readonly slot: string;
  readonly publication: string;
  /** Ends it after the transaction that is being handled. */
  readonly signal: AbortSignal;
  /** Before anything is read: whoever finds another log than the one it knew throws, and nothing is acknowledged. */
  readonly onFound?: (found: FoundLog) => Promise<void> | void;
  /**
   * One transaction after the other, in the order of their commits; none that changed no published table and carries no mark.
   * Once this resolves, and all before it have, the transaction is acknowledged, and is not sent again; where it rejects,
   * reading ends with that error, and the transaction comes again with all that was given after it. After a crash the last
   * ones may come again all the same.
   */
  readonly onTransaction: (seen: LoggedTransaction) => Promise<void>;
  /** How many may be given before the first of them has resolved. Default: one, so that none begins before another ends. */
  readonly atOnce?: number;
  /** Every transaction that ends at or before this place was handled. It never goes back. */
  readonly onPosition?: (lsn: string) => void;
}

/** A server that is well answers each status at once. So many without a word, and the connection is taken for lost. */
const SILENT_BEATS_MAX = 30;
/** The server's position is asked for this often, so that one who waits for it does not wait long. */
const STATUS_INTERVAL_MS = 1_000;
/** How much may wait to be handled before the connection is left unread. */
const WAITING_BYTES_MAX = 1024 * 1024;
/** Of a transaction that keeps no values. */
const TRANSACTION_BYTES = 512;

/** Follows the change log of a database: each committed transaction, in order, none skipped. */
export class ChangeLogReader {
  constructor(
    private readonly clock: Clock,
    private readonly statusIntervalMs = STATUS_INTERVAL_MS,
  ) {}

  /**
   * Resolves once the signal has ended it.
   * @throws {ChangeLogFault} why the log cannot be read, or no longer; an error of a handler as it is
   */
  async follow(log: FollowedLog): Promise<void> {
    const slot = checkedSlot(log.slot);
    if (log.signal.aborted) return;
    const course = await this.begun(slot, log);
    if (course === null) return;
    try {
      await course.run(this.statusIntervalMs);
    } finally {
      await course.close();
    }
  }

  /** Null: the signal has ended it. A server that is silent does not hold that up. */
  private async begun(slot: string, log: FollowedLog): Promise<Course | null> {
    let connection: ReplicationConnection | null = null;
    const end = (): unknown => connection?.close();
    log.signal.addEventListener('abort', end);
    try {
      connection = await ReplicationConnection.open({ ...log.connection, signal: log.signal });
      const found = await connection.look(slot, log.publication);
      await log.onFound?.(found);
      const assembler = new TransactionAssembler(await connection.builtInTypes());
      if (!log.signal.aborted) return new Course(connection, log, assembler, this.clock, found);
    } catch (error) {
      if (!log.signal.aborted) {
        await connection?.close();
        throw error;
      }
    } finally {
      log.signal.removeEventListener('abort', end);
    }
    await connection?.close();
    return null;
  }
}

/** A transaction that its handler has, or had while an earlier one is still with it. */
interface InHand {
  readonly assembled: AssembledTransaction;
  readonly handled: Promise<void>;
}

/** One stretch of following, from the start of a stream to its end. */
class Course implements LogListener {
  private readonly waiting: AssembledTransaction[] = [];
  /** In the order of commits, which is that of acknowledging them. */
  private inHand: InHand[] = [];
  private waitingBytes = 0;
  private handling: Promise<void> | null = null;
  private isPaused = false;
  private handled: bigint;
  /** The server's last word, good once nothing waits that came before it. */
  private said: bigint;
  private silentBeats = 0;
  private readonly ended = settleable();

  constructor(
    private readonly connection: ReplicationConnection,
    private readonly log: FollowedLog,
    private readonly assembler: TransactionAssembler,
    private readonly clock: Clock,
    found: FoundLog,
  ) {
    this.handled = parseLsn(found.confirmedLsn) ?? 0n;
    this.said = this.handled;
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  async run(statusIntervalMs: number): Promise<void> {
    const { slot, publication, signal } = this.log;
    const onAbort = () => this.endIfIdle();
    signal.addEventListener('abort', onAbort);
    const beat = setInterval(() => this.beat(), statusIntervalMs);
    const streamed = this.connection.stream(slot, publication, this).then(() => {
      // Its farewell, as at a shutdown. Nobody else ends a stream.
      throw new ChangeLogFault('connection_lost');
    });
    streamed.catch((error: unknown) => this.fail(error));
    try {
      await this.ended.promise;
    } finally {
      clearInterval(beat);
      signal.removeEventListener('abort', onAbort);
      // Whoever follows next must not handle the same transaction beside this one.
      await this.handling;
    }
  }

  onMessage(message: Buffer): void {
    this.silentBeats = 0;
    if (this.isOver()) return;
    try {
      const assembled = this.assembler.take(message);
      if (assembled !== null) this.enqueue(assembled);
    } catch (error) {
      this.fail(error instanceof ChangeLogFault ? error : new ChangeLogFault('malformed', { cause: error }));
    }
  }

  onPosition(lsn: bigint, isReplyWanted: boolean): void {
    this.silentBeats = 0;
    if (this.isOver()) return;
    // Of a transaction that is still coming the commit lies behind this place, but nothing is lost by waiting for it.
    if (!this.assembler.isWithin && lsn > this.said) this.said = lsn;
    const hasMoved = this.isIdle() && this.said > this.handled;
    if (hasMoved) this.advance(this.said);
    if (hasMoved || isReplyWanted) this.acknowledge(false);
  }

  private enqueue(assembled: AssembledTransaction): void {
    const { seen } = assembled;
    // Of no matter to anybody: in version 14 every transaction of the database arrives, whatever it changed.
    if (seen.tables.length === 0 && seen.marks.length === 0) {
      this.said = parseLsn(seen.end_lsn) ?? this.said;
      if (this.isIdle()) this.advance(this.said);
      return;
    }
    this.waiting.push(assembled);
    this.waitingBytes += TRANSACTION_BYTES + assembled.keptBytes;
    if (!this.isPaused && this.waitingBytes > WAITING_BYTES_MAX) this.pause(true);
    if (this.handling !== null) this.begin();
    // In a turn of its own: a handler that ends the course at once must find that it is being handled.
    else this.handling = Promise.resolve().then(() => this.handleAll());
  }

  private async handleAll(): Promise<void> {
    try {
      this.begin();
      for (let [oldest] = this.inHand; oldest !== undefined; [oldest] = this.inHand) {
        await oldest.handled;
        this.inHand.shift();
        this.finish(oldest.assembled);
        this.begin();
      }
    } catch (error) {
      this.fail(error);
      await Promise.allSettled(this.inHand.map(({ handled }) => handled));
      this.inHand = [];
    }
    this.handling = null;
    // Where some were left, nothing is said of what comes behind them.
    if (!this.isOver() && this.waiting.length === 0) this.advance(this.said);
    this.endIfIdle();
  }

  private begin(): void {
    while (!this.isOver() && !this.log.signal.aborted && this.inHand.length < (this.log.atOnce ?? 1)) {
      const assembled = this.waiting.shift();
      if (assembled === undefined) return;
      const handled = this.log.onTransaction(assembled.seen);
      // Heard when all before it have ended, and until then by nobody.
      handled.catch(() => undefined);
      this.inHand.push({ assembled, handled });
    }
  }

  private finish({ seen, keptBytes }: AssembledTransaction): void {
    this.waitingBytes -= TRANSACTION_BYTES + keptBytes;
    if (this.isOver()) return;
    this.advance(parseLsn(seen.end_lsn) ?? this.handled);
    this.acknowledge(false);
    if (this.isPaused && this.waitingBytes < WAITING_BYTES_MAX / 2) this.pause(false);
  }

  private advance(lsn: bigint): void {
    if (lsn <= this.handled) return;
    this.handled = lsn;
    this.log.onPosition?.(formatLsn(lsn));
  }

  private acknowledge(isReplyWanted: boolean): void {
    this.connection.acknowledge(this.handled, isReplyWanted, this.clock.nowMs());
  }

  /** Says that we live, also while a handler takes its time, and hears whether the server does. */
  private beat(): void {
    this.silentBeats = this.isPaused ? 0 : this.silentBeats + 1;
    if (this.silentBeats > SILENT_BEATS_MAX) this.fail(new ChangeLogFault('connection_lost'));
    else this.acknowledge(!this.isPaused);
  }

  private pause(isPaused: boolean): void {
    this.isPaused = isPaused;
    if (isPaused) this.connection.socket.pause();
    else this.connection.socket.resume();
  }

  private isIdle(): boolean {
    return this.handling === null && this.waiting.length === 0 && !this.assembler.isWithin;
  }

  private isOver(): boolean {
    return this.ended.isSettled();
  }

  private endIfIdle(): void {
    if (this.log.signal.aborted && this.handling === null) this.ended.resolve();
  }

  private fail(error: unknown): void {
    this.ended.reject(error);
  }
}

interface Settleable {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
  isSettled(): boolean;
}

const settleable = (): Settleable => {
  let isSettled = false;
  let settle: { resolve: () => void; reject: (error: unknown) => void } | null = null;
  const promise = new Promise<void>((resolve, reject) => (settle = { resolve, reject }));
  const once = (act: () => void) => {
    isSettled = true;
    act();
  };
  return {
    promise,
    resolve: () => once(() => settle?.resolve()),
    reject: (error) => once(() => settle?.reject(error)),
    isSettled: () => isSettled,
  };
};
