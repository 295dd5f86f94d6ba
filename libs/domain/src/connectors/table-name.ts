/** What needs no quotes here. Case is kept: PostgreSQL has folded what stood without quotes. */
const PLAIN = /^[\p{L}_][\p{L}\p{M}\p{N}_$]*$/u;
const QUALIFIED = /^(?:"((?:[^"]|"")*)"|([^".]+))\.(?:"((?:[^"]|"")*)"|([^".]+))$/u;

/** A name in one spelling: as it is stored, in double quotes where a dot or another odd character could mislead. */
export const spelledName = (name: string): string => (PLAIN.test(name) ? name : `"${name.replaceAll('"', '""')}"`);

/** `schema.table`, so that no two tables have one spelling. Facts, configs, verdicts and evidence name tables so. */
export const qualifiedName = (parts: readonly string[]): string => parts.map(spelledName).join('.');

/** The two names in a {@link qualifiedName} of a table. Null where it is none. */
export const partsOfTable = (qualified: string): { readonly schema: string; readonly table: string } | null => {
  const [, quotedSchema, schema, quotedTable, table] = QUALIFIED.exec(qualified) ?? [];
  const first = quotedSchema?.replaceAll('""', '"') ?? schema;
  const second = quotedTable?.replaceAll('""', '"') ?? table;
  return first === undefined || second === undefined ? null : { schema: first, table: second };
};
