import type { JsonObject } from '#libs/crypto';
import { type ArgumentFault, type LiveConnector, type SideEffect, type ToolDescription } from '#libs/domain/connectors';
import {
  boundStatementOf,
  type DatabaseConfig,
  databaseConfigOf,
  describeDatabaseTools,
} from '#libs/domain/connectors/database';

import type { AcceptedStatement, ReadStatement, SqlParser, SqlRules } from './sql/index.js';

/** A statement as it will be sent: read, allowed by the config, with the text of each parameter. */
export interface ReadyStatement {
  readonly sql: string;
  readonly params: readonly (string | null)[];
  readonly read: AcceptedStatement;
}

/** Why a call sends nothing: its arguments, or the statement. */
export type Unready =
  | { readonly code: 'validation_failed'; readonly fault: ArgumentFault }
  | { readonly code: 'statement_refused'; readonly refusal: string }
  | { readonly code: 'tool_unknown' };

/** Of one config: each call asks several times for the same statement. */
const REMEMBERED_STATEMENTS = 256;

/** What is known of one config. A folded config is one object until it changes. */
interface Known {
  readonly tools: readonly ToolDescription[];
  readonly statements: Map<string, ReadStatement>;
}

/** The tools of connectors of type `database`, and what a call of one would send. */
export class Statements {
  private readonly known = new WeakMap<JsonObject, Known>();

  constructor(private readonly parser: Pick<SqlParser, 'read'>) {}

  toolsOf({ config }: Pick<LiveConnector, 'config'>): readonly ToolDescription[] {
    return this.knownOf(config).tools;
  }

  /** What a call would send, or why it sends nothing. */
  ready({ config }: Pick<LiveConnector, 'config'>, tool: string, args: JsonObject): ReadyStatement | Unready {
    const bound = boundStatementOf(databaseConfigOf(config), tool, args);
    if (bound === null) return { code: 'tool_unknown' };
    if (!bound.ok) return { code: 'validation_failed', fault: bound.fault };
    const read = this.read(config, tool, bound.sql);
    if (!read.ok) return { code: 'statement_refused', refusal: read.refusal };
    if (tool === 'execute' && read.isRead) return { code: 'statement_refused', refusal: READS_ELSEWHERE };
    if (read.parameters !== bound.params.length) {
      return { code: 'statement_refused', refusal: parameterFault(read.parameters, bound.params.length) };
    }
    return { sql: bound.sql, params: bound.params, read };
  }

  /** The side effect of one call: that of its statement, where its arguments make one. */
  sideEffectOf(connector: Pick<LiveConnector, 'config'>, tool: string, args: JsonObject): SideEffect | null {
    const ready = this.ready(connector, tool, args);
    return 'read' in ready ? sideEffectOfStatement(ready.read) : null;
  }

  /** The first of the config's own statements that cannot be sent: it is not read again before a call needs it. */
  faultOfTools(config: JsonObject): ArgumentFault | null {
    const database = databaseConfigOf(config);
    for (const [place, { name, sql, args }] of database.tools.entries()) {
      const read = this.parser.read(sql, rulesOf(database, name));
      const param = `config.tools[${place}].sql`;
      if (!read.ok) return { param, message: `${param}: ${read.refusal}` };
      if (read.parameters !== args.length)
        return { param, message: `${param}: ${argumentFault(read.parameters, args.length)}` };
    }
    return null;
  }

  /** The tables that the statements of the config name to be changed. */
  tablesOf({ config }: Pick<LiveConnector, 'config'>): readonly string[] {
    return databaseConfigOf(config).tools.flatMap(({ name, sql }) => {
      const read = this.read(config, name, sql);
      return read.ok ? read.writes.map(({ table }) => table) : [];
    });
  }

  private read(config: JsonObject, tool: string, sql: string): ReadStatement {
    const { statements } = this.knownOf(config);
    const key = `${tool === 'query' || tool === 'execute' ? tool : 'named'}\n${sql}`;
    const remembered = statements.get(key);
    if (remembered !== undefined) return remembered;
    const read = this.parser.read(sql, rulesOf(databaseConfigOf(config), tool));
    if (statements.size >= REMEMBERED_STATEMENTS) statements.clear();
    statements.set(key, read);
    return read;
  }

  private knownOf(config: JsonObject): Known {
    const known = this.known.get(config);
    if (known !== undefined) return known;
    const database = databaseConfigOf(config);
    const sideEffectOfSql = (sql: string): SideEffect => {
      const read = this.parser.read(sql, rulesOf(database, 'named'));
      return read.ok ? sideEffectOfStatement(read) : 'unknown';
    };
    const made = { tools: describeDatabaseTools(database, sideEffectOfSql), statements: new Map() };
    this.known.set(config, made);
    return made;
  }
}

const rulesOf = (config: DatabaseConfig, tool: string): SqlRules => ({
  schemas: config.schemas,
  allowedFunctions: config.allowed_functions,
  allowTruncate: config.allow_truncate,
  allowCatalog: config.allow_catalog,
  tool: tool === 'query' || tool === 'execute' ? tool : 'named',
});

const sideEffectOfStatement = ({ isRead, isDestructive }: AcceptedStatement): SideEffect => {
  if (isRead) return 'read';
  return isDestructive ? 'destructive' : 'write';
};

const READS_ELSEWHERE = 'The statement only reads. Send it through the tool query, whose transaction cannot write.';

const parameterFault = (wanted: number, given: number): string =>
  `The statement has ${countOf(wanted)} ($1 and so on), and ${given} ${given === 1 ? 'was' : 'were'} given in params. Give one for each.`;

const argumentFault = (wanted: number, declared: number): string =>
  `The statement has ${countOf(wanted)} ($1 and so on), and the tool declares ${declared} ${declared === 1 ? 'argument' : 'arguments'}. Each argument is one parameter, in their order.`;

const countOf = (count: number): string => `${count} ${count === 1 ? 'parameter' : 'parameters'}`;
