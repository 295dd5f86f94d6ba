/** What the connector read about a statement (docs/policies.md, `request.sql`). */
export interface SqlFactsRead {
  readonly kind: string;
  readonly tables: readonly string[];
  readonly hasWhere: boolean;
  readonly isParameterized: boolean;
  readonly functions: readonly string[];
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

/** The facts about a statement; null if there are none, or if they are not of this shape. */
export const sqlFactsIn = (facts: Readonly<Record<string, unknown>>): SqlFactsRead | null => {
  const sql = facts['sql'];
  if (typeof sql !== 'object' || sql === null) return null;
  const {
    kind,
    tables,
    functions,
    has_where: hasWhere,
    is_parameterized: isParameterized,
  } = sql as Record<string, unknown>;
  if (typeof kind !== 'string' || !isTexts(tables) || !isTexts(functions)) return null;
  return { kind, tables, functions, hasWhere: hasWhere === true, isParameterized: isParameterized === true };
};

/** Whether each row of its tables is changed, which is seldom what is wanted. */
export const isOfEveryRow = ({ kind, hasWhere }: Pick<SqlFactsRead, 'kind' | 'hasWhere'>): boolean =>
  kind === 'truncate' || ((kind === 'update' || kind === 'delete') && !hasWhere);
