import type { OrgId, Timestamp } from '#libs/domain/kernel';
import type { DataSource } from 'typeorm';
import { storedText } from '../columns.js';
import { HourlyCountRow } from './hourly-count.row.js';
import { HourlyTotalRow } from './hourly-total.row.js';

/** What actions can be counted by. */
export type CountedBy = keyof Omit<HourlyCountRow, 'id' | 'org' | 'actions'>;

/** So many actions have these values. */
export type ActionCount<By extends CountedBy> = Pick<HourlyCountRow, By> & { readonly actions: number };

export interface CountedPeriod {
  /** Inclusive, the begin of an hour. */
  readonly from: Timestamp;
  /** Exclusive, the begin of an hour. */
  readonly to: Timestamp;
}

/** How many actions of `org` were submitted in a period, by some of their properties. */
export const countedActions = async <By extends CountedBy>(
  source: DataSource,
  org: OrgId,
  { from, to }: CountedPeriod,
  by: readonly By[],
): Promise<readonly ActionCount<By>[]> => {
  const { tablePath, columns } = source.getMetadata(areTotals(by) ? HourlyTotalRow : HourlyCountRow);
  const known = columns.filter(({ propertyName }) => (by as readonly string[]).includes(propertyName));
  const names = known.map(({ databaseName }) => databaseName).join(', ');
  const text =
    `SELECT ${names}, sum(actions)::bigint AS actions FROM ${tablePath} ` +
    `WHERE org = $1 AND hour >= $2::timestamptz AND hour < $3::timestamptz GROUP BY ${names} ORDER BY ${names}`;
  const rows = await source.query<Readonly<Record<string, unknown>>[]>(text, [storedText(org), from, to]);
  return rows.map((row) => {
    const values = known.map(({ propertyName, databaseName }) => [propertyName, valueOf(row[databaseName])]);
    return { ...Object.fromEntries(values), actions: Number(row['actions']) } as ActionCount<By>;
  });
};

/** Whether the sums are there that ask for nothing about agents, tools and rules. */
const areTotals = (by: readonly CountedBy[]): boolean => by.every((name) => TOTALLED.has(name));
const TOTALLED: ReadonlySet<CountedBy> = new Set(['hour', 'decision', 'source', 'status', 'verdict']);

const valueOf = (value: unknown): unknown => (value instanceof Date ? value.toISOString() : value);
