import type { OrgRow, OrgRows } from '#libs/infra/read-models';
import type { FiltersOf, ListName } from './filters.js';

/**
 * What each filter of a list asks of a row, in SQL. A filter that is described and has no condition does not compile.
 * @typeParam Elsewhere filters that narrow the list in another way
 */
export type Conditions<List extends ListName, Row extends OrgRow, Elsewhere extends keyof FiltersOf<List> = never> = {
  readonly [Name in Exclude<keyof FiltersOf<List>, Elsewhere>]: (
    rows: OrgRows<Row>,
    value: NonNullable<FiltersOf<List>[Name]>,
  ) => void;
};

/** Narrows the rows to those that match every filter that was sent. */
export const narrow = <List extends ListName, Row extends OrgRow, Elsewhere extends keyof FiltersOf<List>>(
  rows: OrgRows<Row>,
  filters: FiltersOf<List>,
  conditions: Conditions<List, Row, Elsewhere>,
): void => {
  for (const name of Object.keys(conditions) as Exclude<keyof FiltersOf<List>, Elsewhere>[]) {
    const value = filters[name];
    if (value !== null) conditions[name](rows, value as NonNullable<typeof value>);
  }
};
