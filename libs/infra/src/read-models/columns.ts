import type { ColumnOptions } from 'typeorm';

/**
 * What PostgreSQL can keep as text: U+0000 and lone surrogates stand as U+FFFD. Search terms pass through here too, so
 * that what is stored is found. The log keeps the exact text.
 */
export const storedText = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD');

/** Ids, names and codes compare by bytes, whatever the database's own collation is. */
export const TEXT = { type: 'text', collation: 'C' } as const satisfies ColumnOptions;

/** RFC 3339 with milliseconds in the row object, `timestamptz(3)` in the table. */
export const INSTANT = {
  type: 'timestamp with time zone',
  precision: 3,
  transformer: {
    to: (instant: string | null) => instant,
    from: (date: Date | null) => date?.toISOString() ?? null,
  },
} as const satisfies ColumnOptions;

/** JSON as text: `jsonb` refuses U+0000, and what was folded from the log is given back exactly. */
export const JSON_TEXT = {
  type: 'text',
  transformer: {
    to: (value: unknown) => JSON.stringify(value),
    from: (text: string) => JSON.parse(text) as unknown,
  },
} as const satisfies ColumnOptions;

export const BOOLEAN = { type: 'boolean' } as const satisfies ColumnOptions;

export const INTEGER = { type: 'integer' } as const satisfies ColumnOptions;

/** A count that may pass 2^31, as a number: exact up to 2^53. */
export const COUNT = {
  type: 'bigint',
  transformer: { to: (count: number) => count, from: (digits: string) => Number(digits) },
} as const satisfies ColumnOptions;
