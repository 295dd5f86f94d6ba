import type { ChangeKind, SqlFacts } from '#libs/domain/connectors';
import { DATABASE_LIMITS } from '#libs/domain/connectors/database';

/** What a statement may hold in UTF-8. */
export const STATEMENT_MAX_BYTES = DATABASE_LIMITS.statementBytes;

/** What one connector and one of its tools let a statement do. */
export interface SqlRules {
  /** At least one. A name without a schema means the first of them. */
  readonly schemas: readonly string[];
  /** Beside the plain ones: `name` or `schema.name`, as PostgreSQL stores them. A name says only itself. */
  readonly allowedFunctions: readonly string[];
  readonly allowTruncate: boolean;
  /** Whether `query` may read pg_catalog and information_schema. */
  readonly allowCatalog: boolean;
  readonly tool: 'query' | 'execute' | 'named';
}

/** A table that the statement names to be changed. */
export interface StatementWrite {
  readonly table: string;
  /** In the order of CHANGE_KINDS. */
  readonly kinds: readonly ChangeKind[];
}

export interface AcceptedStatement {
  readonly ok: true;
  readonly facts: SqlFacts;
  /** Sorted by table, one for each; those of common table expressions with the root's own. */
  readonly writes: readonly StatementWrite[];
  /** It changes nothing and locks no row: it can run READ ONLY. */
  readonly isRead: boolean;
  /** It deletes, truncates, updates without a WHERE, or merges with a DELETE. */
  readonly isDestructive: boolean;
  /** The highest `$n`; every one below it stands in the statement, too. */
  readonly parameters: number;
  /** Whether the root itself has RETURNING. */
  readonly hasReturning: boolean;
}

export interface RefusedStatement {
  readonly ok: false;
  /** A sentence that names the part and what to do. It holds no literal of the statement. */
  readonly refusal: string;
}

export type ReadStatement = AcceptedStatement | RefusedStatement;
