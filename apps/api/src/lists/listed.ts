import type { OrgRow, OrgRows, Page } from '#libs/infra/read-models';

/** A page of a list as a query handler gives it. */
export interface Listed<Row> extends Page<Row> {
  /** Events that the rows do not tell yet, for `Service-Projection-Lag`; 0 when they are current. */
  readonly lagEvents: number;
}

/** Which page: at most `limit` rows, after the one at `after`, or from the first. */
export interface PageRequest<Position> {
  readonly limit: number;
  readonly after: Position | null;
}

/** Where a page of a list ended that shows the newest first. */
export type TimePosition = {
  readonly createdAt: string;
  readonly id: string;
};

export const timePositionOf = ({ createdAt, id }: TimePosition): TimePosition => ({ createdAt, id });

/** A page of a list that shows the newest first; of two made at the same moment, the one with the greater id. */
export const newestFirst = <Row extends OrgRow & TimePosition>(
  rows: OrgRows<Row>,
  { limit, after }: PageRequest<TimePosition>,
): Promise<Page<Row>> => {
  if (after) rows.where('(row.createdAt, row.id) < (:createdAt, :id)', timePositionOf(after));
  return rows.orderBy('createdAt', 'DESC').orderBy('id', 'DESC').page(limit);
};
