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

/** The same of a list that is at hand as a whole. */
export const pageOfNewest = <Row>(
  rows: readonly Row[],
  positionOf: (row: Row) => TimePosition,
  { limit, after }: PageRequest<TimePosition>,
): Listed<Row> => {
  const newest = rows.toSorted((one, other) => compare(positionOf(other), positionOf(one)));
  const left = after === null ? newest : newest.filter((row) => compare(positionOf(row), after) < 0);
  return { rows: left.slice(0, limit), hasMore: left.length > limit, lagEvents: 0 };
};

/** Instants are of one length in UTC and ids are ASCII: both compare as text. */
const compare = (one: TimePosition, other: TimePosition): number => {
  const [left, right] = [`${one.createdAt} ${one.id}`, `${other.createdAt} ${other.id}`];
  return left < right ? -1 : left > right ? 1 : 0;
};
