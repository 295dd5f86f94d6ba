import { type LoggedColumn, qualifiedName, type ReplicaIdentity } from '#libs/domain/connectors';
import { ChangeLogFault } from './change-log-fault.js';
import type { MessageCursor } from './message-cursor.js';

export interface LoggedRelation {
  /** `schema.table`. */
  readonly table: string;
  readonly replicaIdentity: ReplicaIdentity;
  readonly columns: readonly LoggedColumn[];
}

const IDENTITIES: Readonly<Record<string, ReplicaIdentity>> = { d: 'default', n: 'nothing', f: 'full', i: 'index' };
const IS_KEY = 1;
const SYSTEM_SCHEMA = 'pg_catalog';

/**
 * What the log has said of tables and types on this connection. It says it before the first row that needs it, and again
 * after each change; a later word replaces the earlier one.
 */
export class LoggedRelations {
  private readonly relations = new Map<number, LoggedRelation>();
  private readonly types: Map<number, string>;

  /** @param builtInTypes by their numbers: the log names only the others */
  constructor(builtInTypes: ReadonlyMap<number, string>) {
    this.types = new Map(builtInTypes);
  }

  get(oid: number): LoggedRelation {
    const relation = this.relations.get(oid);
    if (relation === undefined) throw new ChangeLogFault('malformed');
    return relation;
  }

  learnType(message: MessageCursor): void {
    const oid = message.uint32();
    const [schema, name] = [message.name(), message.name()];
    this.types.set(oid, isSystem(schema) ? name : `${schema}.${name}`);
  }

  learnRelation(message: MessageCursor): void {
    const oid = message.uint32();
    const [schema, name] = [message.name(), message.name()];
    const replicaIdentity = IDENTITIES[String.fromCharCode(message.uint8())];
    if (replicaIdentity === undefined) throw new ChangeLogFault('malformed');
    const columns = Array.from({ length: message.uint16() }, () => this.column(message));
    const table = qualifiedName([isSystem(schema) ? SYSTEM_SCHEMA : schema, name]);
    this.relations.set(oid, { table, replicaIdentity, columns });
  }

  private column(message: MessageCursor): LoggedColumn {
    const isKey = (message.uint8() & IS_KEY) !== 0;
    const name = message.name();
    const oid = message.uint32();
    // What the declaration said besides: a length, a scale. The texts have it.
    message.uint32();
    return { name, type: this.types.get(oid) ?? String(oid), is_key: isKey };
  }
}

/** The log spells PostgreSQL's own schema as the empty text. */
const isSystem = (schema: string): boolean => schema === '' || schema === SYSTEM_SCHEMA;
