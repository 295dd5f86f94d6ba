import type { EntityMetadata, ValueTransformer } from 'typeorm';
import { textArray } from '../postgres/index.js';
import { JSON_TEXT, storedText } from './columns.js';

interface RowColumn {
  readonly property: string;
  readonly transformer: ValueTransformer | undefined;
  /** Written by `JSON.stringify`, which leaves nothing that PostgreSQL could not keep. */
  readonly isJson: boolean;
}

/**
 * How the rows of one table stand in statements: worked out once, since asking TypeORM for each value took longer than the
 * statement. Every value travels as text; the server reads it as it would a literal.
 */
export class RowShape {
  readonly selectStatement: string;
  readonly upsertStatement: string;
  private readonly columns: readonly RowColumn[];

  constructor(
    metadata: EntityMetadata,
    readonly table: string,
  ) {
    this.columns = metadata.columns.map(({ propertyName, transformer }) => ({
      property: propertyName,
      // One at most: each comes from columns.ts.
      transformer: transformer as ValueTransformer | undefined,
      isJson: transformer === JSON_TEXT.transformer,
    }));
    const names = metadata.columns.map((column) => quoted(column.databaseName));
    const keys = metadata.primaryColumns.map((column) => quoted(column.databaseName));
    const list = names.join(', ');
    const values = metadata.columns.map(({ databaseName, type }) => `n.${quoted(databaseName)}::${String(type)}`);
    const arrays = names.map((_, index) => `$${index + 1}::text[]`);
    const changes = names.filter((name) => !keys.includes(name)).map((name) => `${name} = excluded.${name}`);
    this.selectStatement = `SELECT ${list} FROM ${table}`;
    this.upsertStatement =
      `INSERT INTO ${table} (${list}) SELECT ${values.join(', ')} FROM unnest(${arrays.join(', ')}) AS n (${list}) ` +
      `ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${changes.join(', ')}`;
  }

  /** The parameters of {@link upsertStatement}. Text is stored as PostgreSQL can keep it. */
  valuesOf(rows: readonly object[]): Buffer[] {
    return this.columns.map((column) =>
      textArray(rows.map((row) => storedValue(column, (row as Record<string, unknown>)[column.property]))),
    );
  }

  /** The row of a record, its values in the order of {@link selectStatement}. */
  rowOf(record: readonly unknown[]): object {
    const row: Record<string, unknown> = {};
    for (const [index, { property, transformer }] of this.columns.entries()) {
      row[property] = transformer ? transformer.from(record[index]) : record[index];
    }
    return row;
  }
}

const storedValue = ({ transformer, isJson }: RowColumn, property: unknown): string | null => {
  const value = (transformer ? transformer.to(property) : property) as string | number | boolean | null;
  if (value === null) return null;
  if (typeof value !== 'string') return String(value);
  return isJson ? value : storedText(value);
};

export const quoted = (name: string): string => `"${name}"`;
