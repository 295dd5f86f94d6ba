import type { IdentifiedRow, ReplacementTables, RowTransaction, RowType } from '#libs/infra/read-models';
import type { ProjectedRows } from '../projection.js';

/** By id; null is a row that was removed. */
type Changed = Map<string, object | null>;

interface Change {
  readonly rowType: RowType<object>;
  note(changed: Changed): void;
  write(rows: RowTransaction): Promise<void>;
}

/**
 * Rows that reach new tables a little later: the next events are folded while what the last ones changed is being written.
 * A fold finds what it would in one transaction: what is on its way is read from here, and everything older from the
 * tables.
 */
export class LateRows implements ProjectedRows {
  private changes: Change[] = [];
  private onTheirWay: readonly Change[] = [];
  private written: Promise<void> = Promise.resolve();

  constructor(private readonly tables: ReplacementTables) {}

  async select<Row extends IdentifiedRow>(rowType: RowType<Row>, ids: Iterable<string>): Promise<readonly Row[]> {
    const changed: Changed = new Map();
    for (const change of [...this.onTheirWay, ...this.changes]) {
      if (change.rowType === rowType) change.note(changed);
    }
    const wanted = [...ids];
    const older = wanted.filter((id) => !changed.has(id));
    const found = older.length > 0 ? await this.readOlder(rowType, older) : [];
    return [...found, ...wanted.flatMap((id) => (changed.get(id) as Row | null | undefined) ?? [])];
  }

  upsert<Row extends object>(rowType: RowType<Row>, upserted: readonly Row[]): Promise<void> {
    this.changes.push({
      rowType,
      note: (changed) => {
        // Of a type that is selected, which has ids.
        for (const row of upserted) changed.set((row as Row & IdentifiedRow).id, row);
      },
      write: (rows) => rows.upsert(rowType, upserted),
    });
    return Promise.resolve();
  }

  remove(rowType: RowType<IdentifiedRow>, ids: readonly string[]): Promise<void> {
    this.changes.push({
      rowType,
      note: (changed) => {
        for (const id of ids) changed.set(id, null);
      },
      write: (rows) => rows.remove(rowType, ids),
    });
    return Promise.resolve();
  }

  /** Sends what was changed on its way, once all before it has arrived. */
  async send(): Promise<void> {
    await this.written;
    const sent = this.changes;
    this.onTheirWay = sent;
    this.changes = [];
    this.written = this.tables.write(async (rows) => {
      for (const change of sent) await change.write(rows);
    });
    // It shows in the next call.
    this.written.catch(() => undefined);
  }

  /** Until everything that was sent has arrived. */
  async arrived(): Promise<void> {
    await this.written;
  }

  private async readOlder<Row extends IdentifiedRow>(
    rowType: RowType<Row>,
    ids: readonly string[],
  ): Promise<readonly Row[]> {
    let found: readonly Row[] = [];
    await this.tables.write(async (rows) => {
      found = await rows.select(rowType, ids);
    });
    return found;
  }
}
