import type { IdentifiedRow, RowFloor, RowType } from '#libs/infra/read-models';
import type { ProjectedRows, Projection } from './projection.js';

/** The rows of a projection without those that are gone by now: what a fold says of them is not written. */
class RowsAboveFloor implements ProjectedRows {
  constructor(
    private readonly rows: ProjectedRows,
    private readonly floor: RowFloor,
    private readonly from: bigint,
  ) {}

  select<Row extends IdentifiedRow>(rowType: RowType<Row>, ids: Iterable<string>): Promise<readonly Row[]> {
    return this.rows.select(rowType, ids);
  }

  upsert<Row extends object>(rowType: RowType<Row>, upserted: readonly Row[]): Promise<void> {
    const kept = rowType === (this.floor.rowType as unknown) ? upserted.filter((row) => this.isKept(row)) : upserted;
    return this.rows.upsert(rowType, kept);
  }

  remove(rowType: RowType<IdentifiedRow>, ids: readonly string[]): Promise<void> {
    return this.rows.remove(rowType, ids);
  }

  private isKept(row: object): boolean {
    return BigInt((row as Readonly<Record<string, string>>)[this.floor.key] as string) >= this.from;
  }
}

/** The same fold, which makes no row below the floor as it is now: a log of years gives the rows of the last days. */
export const aboveFloor = (projection: Projection, from: bigint): Projection => {
  const { floor } = projection;
  if (!floor || from === 0n) return projection;
  return {
    ...projection,
    project: (events, rows) => projection.project(events, new RowsAboveFloor(rows, floor, from)),
  };
};
