import type { LoggedTransaction, TableCounts } from '#libs/domain/connectors';
import type { Clock, Meter, SeenTransaction } from '#libs/domain/kernel';
import {
  BYPASS_QUIET_MS,
  type ChangeLogVerdicts,
  type DecoderAddress,
  type DecoderAlert,
  type DecoderLog,
  type MarkReader,
} from '#libs/domain/witness';

export interface IntakeParts {
  readonly verdicts: Pick<ChangeLogVerdicts, 'report'>;
  readonly log: Pick<DecoderLog, 'alert'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly meter: Pick<Meter, 'transactionSeen'>;
}

export interface IntakeTerms {
  readonly of: DecoderAddress;
  readonly marks: MarkReader;
  readonly watchBypass: boolean;
}

/** What becomes of one transaction of a change log. */
export class TransactionIntake {
  /** When this process last had a bypass told, by table: the log decides, and is not asked for what it would refuse. */
  private readonly told = new Map<string, number>();
  /** Bypasses one by one, in the order of their commits: the first of a minute is told, and the others know it. */
  private bypasses: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly parts: IntakeParts,
    private readonly terms: IntakeTerms,
  ) {}

  /**
   * Resolves when everything that the transaction says is recorded, so that it may be acknowledged. The same one may come
   * again at any time.
   * @throws {StoreUnavailable} nothing may be acknowledged
   */
  async take(transaction: LoggedTransaction): Promise<void> {
    const result = await this.recorded(transaction);
    this.parts.meter.transactionSeen(result);
  }

  private async recorded(transaction: LoggedTransaction): Promise<SeenTransaction> {
    const [mark, ...others] = transaction.marks;
    if (mark === undefined) return this.unmarked(transaction);
    const read = others.length === 0 ? this.terms.marks.read(mark, transaction.xid) : null;
    if (read === null) {
      await this.alert({ kind: 'forged_mark', xid: transaction.xid }, transaction);
      return 'forged';
    }
    const outcome = await this.parts.verdicts.report(read.action, read.attempt, transaction);
    return outcome === 'not_ours' ? 'foreign' : 'witnessed';
  }

  private async unmarked(transaction: LoggedTransaction): Promise<SeenTransaction> {
    const changed = transaction.tables.filter((counts) => rowsOf(counts) > 0);
    if (changed.length === 0) return 'foreign';
    if (!this.terms.watchBypass) return 'bypass';
    const told = this.bypasses.then(() => this.tellBypass(changed, transaction));
    // Of a failure hears whoever gave that transaction; it comes again, with those behind it.
    this.bypasses = told.catch(() => undefined);
    await told;
    return 'bypass';
  }

  private async tellBypass(changed: readonly TableCounts[], transaction: LoggedTransaction): Promise<void> {
    for (const counts of changed) {
      if (this.isQuiet(counts.table)) continue;
      const alert = { kind: 'bypass', table: counts.table, rows: rowsOf(counts), xid: transaction.xid } as const;
      await this.alert(alert, transaction);
      this.told.set(counts.table, this.parts.clock.nowMs());
    }
  }

  private alert(alert: DecoderAlert, { end_lsn }: LoggedTransaction): Promise<void> {
    return this.parts.log.alert(this.terms.of, alert, end_lsn);
  }

  private isQuiet(table: string): boolean {
    const nowMs = this.parts.clock.nowMs();
    for (const [other, atMs] of this.told) {
      if (Math.abs(nowMs - atMs) >= BYPASS_QUIET_MS) this.told.delete(other);
    }
    return this.told.has(table);
  }
}

const rowsOf = (counts: TableCounts): number => counts.insert + counts.update + counts.delete + counts.truncate;
