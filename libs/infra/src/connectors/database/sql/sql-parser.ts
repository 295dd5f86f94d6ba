import { CHANGE_KINDS, type SqlFacts, type SqlKind } from '#libs/domain/connectors';
import { Findings } from './findings.js';
import { PgParser } from './pg-parser.js';
import { refusedRoot } from './refused-parts.js';
import { Refusal, refusal } from './refusal.js';
import type { AcceptedStatement, ReadStatement, SqlRules, StatementWrite } from './sql-statement.js';
import { checkText } from './statement-text.js';
import { StatementWalk } from './statement-walk.js';
import { type Fields, typeAndFields } from './tree.js';

/** Texts of the facts in all: what a policy reckons with (OWN_TEXTS of the policy's facts is more). */
const FACTS_MAX_CHARACTERS = 6_000;
const PARAMETERS_MAX = 1_000;
const ROOTS = new Set(['SelectStmt', 'InsertStmt', 'UpdateStmt', 'DeleteStmt', 'MergeStmt']);
/** The gravest kind names a statement: an INSERT of rows that its WITH deletes is a delete. */
const BY_GRAVITY: readonly SqlKind[] = ['truncate', 'delete', 'merge', 'update', 'insert'];

/** PostgreSQL's own parser, loaded. */
export class SqlParser {
  constructor(private readonly parser: PgParser) {}

  /** What a statement does, by its own text, or why it is not sent. */
  read(sql: string, rules: SqlRules): ReadStatement {
    try {
      return this.accepted(sql, rules);
    } catch (error) {
      if (error instanceof Refusal) return { ok: false, refusal: error.message };
      throw error;
    }
  }

  /** Until a parser that has failed is replaced. */
  settled(): Promise<void> {
    return this.parser.settled();
  }

  private accepted(sql: string, rules: SqlRules): AcceptedStatement {
    checkText(sql);
    const node = this.onlyStatement(sql);
    const [type, root] = typeAndFields(node);
    checkRoot(type, rules);
    const findings = new Findings();
    new StatementWalk(rules, findings).root(node);
    return statementOf(root, findings, rules);
  }

  private onlyStatement(sql: string): unknown {
    const parsed = this.parser.parse(sql);
    if (parsed.is === 'unavailable') throw new Refusal('The parser is starting anew. Send the statement again.');
    if (parsed.is === 'unfit')
      throw new Refusal('The statement is no valid SQL. Check it against PostgreSQL’s grammar.');
    const [first, ...more] = parsed.tree.stmts ?? [];
    if (first?.stmt === undefined) throw new Refusal('There is no statement in the text. Send exactly one.');
    if (more.length > 0)
      throw new Refusal('There is more than one statement in the text. Send each in a call of its own.');
    return first.stmt;
  }
}

/** Takes some 50 ms: once, when the process starts. */
export const loadSqlParser = async (): Promise<SqlParser> => new SqlParser(await PgParser.start());

const checkRoot = (type: string, rules: SqlRules): void => {
  if (ROOTS.has(type)) return;
  if (type !== 'TruncateStmt') throw refusedRoot(type);
  if (rules.tool === 'query') throw refusal('TRUNCATE in a query', 'Use the tool execute');
  if (!rules.allowTruncate) {
    throw refusal(
      'TRUNCATE a table',
      'Use DELETE with a WHERE, or ask for allow_truncate in the config of this connector',
    );
  }
};

const statementOf = (root: Fields, findings: Findings, rules: SqlRules): AcceptedStatement => {
  const { modifications } = findings;
  if (rules.tool === 'query' && modifications.length > 0) {
    throw refusal('change rows in a query', 'Use the tool execute');
  }
  const changes = modifications.filter(({ hasWhere }) => hasWhere !== null);
  const parameters = parametersOf(findings.parameters);
  const facts: SqlFacts = {
    kind: BY_GRAVITY.find((kind) => modifications.some((one) => one.kind === kind)) ?? 'select',
    tables: [...findings.tables].sort(),
    statement_count: 1,
    has_where: changes.length > 0 && changes.every(({ hasWhere }) => hasWhere === true),
    is_parameterized: parameters > 0,
    functions: [...findings.functions].sort(),
  };
  checkSize(facts);
  const writes = writesOf(findings);
  return {
    ok: true,
    facts,
    writes,
    isRead: modifications.length === 0 && !findings.locksRows,
    isDestructive:
      writes.some(({ kinds }) => kinds.includes('delete') || kinds.includes('truncate')) ||
      modifications.some(({ kind, hasWhere }) => kind === 'update' && hasWhere === false),
    parameters,
    hasReturning: root['returningClause'] !== undefined,
  };
};

const writesOf = ({ writes }: Findings): readonly StatementWrite[] =>
  [...writes]
    .map(([table, kinds]) => ({ table, kinds: CHANGE_KINDS.filter((kind) => kinds.has(kind)) }))
    .sort((one, other) => (one.table < other.table ? -1 : 1));

const parametersOf = (numbers: ReadonlySet<number>): number => {
  const highest = Math.max(0, ...numbers);
  if (highest > PARAMETERS_MAX) {
    throw refusal(`have more than ${String(PARAMETERS_MAX)} parameters`, 'Pass a list as one parameter: = ANY($1)');
  }
  if (highest !== numbers.size) {
    throw refusal('leave a parameter out', 'Number the parameters from $1 without a gap');
  }
  return highest;
};

const checkSize = ({ tables, functions }: SqlFacts): void => {
  const characters = [...tables, ...functions].reduce((sum, name) => sum + name.length, 0);
  if (characters > FACTS_MAX_CHARACTERS) {
    throw refusal('name that many tables and functions', 'Split it into several calls');
  }
};
