import type { Page } from '#libs/infra/read-models';

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
export interface TimePosition {
  readonly createdAt: string;
  readonly id: string;
}

export const timePositionOf = ({
  createdAt,
  id,
}: TimePosition): { readonly createdAt: string; readonly id: string } => ({
  createdAt,
  id,
});
