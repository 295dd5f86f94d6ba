import { type AcceptedStatement, loadSqlParser, type ReadStatement, type SqlParser, type SqlRules } from '../index.js';

let loading: Promise<SqlParser> | null = null;
const sharedParser = (): Promise<SqlParser> => (loading ??= loadSqlParser());

const rulesOf = (given: Partial<SqlRules> = {}): SqlRules => ({
  schemas: ['public'],
  allowedFunctions: [],
  allowTruncate: false,
  allowCatalog: false,
  tool: 'execute',
  ...given,
});

export interface SqlReader {
  read(sql: string, rules?: Partial<SqlRules>): ReadStatement;
  /** Throws the refusal. */
  accept(sql: string, rules?: Partial<SqlRules>): AcceptedStatement;
  /** Throws where it is accepted. */
  refusalOf(sql: string, rules?: Partial<SqlRules>): string;
}

export const sqlReader = async (): Promise<SqlReader> => {
  const parser = await sharedParser();
  const read = (sql: string, rules?: Partial<SqlRules>): ReadStatement => parser.read(sql, rulesOf(rules));
  return {
    read,
    accept(sql, rules) {
      const result = read(sql, rules);
      if (result.ok) return result;
      throw new Error(`refused: ${result.refusal}`);
    },
    refusalOf(sql, rules) {
      const result = read(sql, rules);
      if (!result.ok) return result.refusal;
      throw new Error('accepted');
    },
  };
};
