import { MARK_MAX_BYTES, MARK_PREFIX } from '#libs/crypto';
import {
  type ChangeKind,
  DIFF_ROWS_MAX,
  type LoggedRow,
  type LoggedTable,
  type LoggedTransaction,
  type LoggedValue,
} from '#libs/domain/connectors';
import { timestampOf } from '#libs/domain/kernel';
import { ChangeLogFault } from './change-log-fault.js';
import { KeptValues } from './kept-values.js';
import { type LoggedRelation, LoggedRelations } from './logged-relations.js';
import { LEFT_AWAY } from './long-messages.js';
import { formatLsn } from './lsn.js';
import { MessageCursor } from './message-cursor.js';

/** One mark is right, two are one too many. */
const MARKS_MAX = 2;
const IS_TRANSACTIONAL = 1;
/** Of a changed row, behind its kind and its table: which tuple comes. */
const TUPLE_AT = 5;
/** PostgreSQL counts from the year 2000. */
const EPOCH_MS = 946_684_800_000;
const MICROSECONDS = 1_000n;

type Tuple = readonly (LoggedValue | null)[];

interface OpenTransaction {
  readonly xid: number;
  readonly tables: Map<string, { -readonly [Member in keyof LoggedTable]: LoggedTable[Member] }>;
  readonly rows: LoggedRow[];
  readonly marks: string[];
  readonly values: KeptValues;
}

/** A transaction, and how many bytes of values it keeps. */
export interface AssembledTransaction {
  readonly seen: LoggedTransaction;
  readonly keptBytes: number;
}

/**
 * Assembles transactions from the messages of pgoutput (protocol 1, `streaming` off: one transaction after the other, each
 * when it has committed). Values stay the texts that came. Memory is bounded: behind the first {@link DIFF_ROWS_MAX} rows it
 * only counts. One for each connection, because the log describes a table once on each.
 *
 * It reads the messages itself. A parser to JavaScript values loses microseconds, the scale of numerics and large integers,
 * and cannot tell a column that the log leaves out from one that is null.
 */
export class TransactionAssembler {
  private readonly relations: LoggedRelations;
  private open: OpenTransaction | null = null;

  /** @param builtInTypes names of PostgreSQL's own types by their numbers */
  constructor(builtInTypes: ReadonlyMap<number, string> = new Map()) {
    this.relations = new LoggedRelations(builtInTypes);
  }

  /** Whether a transaction has begun and not ended. */
  get isWithin(): boolean {
    return this.open !== null;
  }

  /**
   * Takes one message; gives the transaction where it was the last of one. The bytes may be written over afterwards.
   * @throws {ChangeLogFault} malformed
   */
  take(bytes: Buffer): AssembledTransaction | null {
    const message = new MessageCursor(bytes);
    switch (String.fromCharCode(message.uint8())) {
      case 'B':
        return this.begin(message);
      case 'C':
        return this.commit(message);
      case 'I':
      case 'U':
      case 'D':
        return this.change(message, bytes);
      case 'T':
        return this.truncate(message);
      case 'M':
        return this.message(message);
      case 'R':
        this.relations.learnRelation(message);
        return null;
      case 'Y':
        this.relations.learnType(message);
        return null;
      case 'O':
        return null;
      default:
        throw new ChangeLogFault('malformed');
    }
  }

  private begin(message: MessageCursor): null {
    if (this.open !== null) throw new ChangeLogFault('malformed');
    // Where it commits and when: the commit says both again.
    message.uint64();
    message.int64();
    this.open = { xid: message.uint32(), tables: new Map(), rows: [], marks: [], values: new KeptValues() };
    return null;
  }

  private commit(message: MessageCursor): AssembledTransaction {
    const { xid, tables, rows, marks, values } = this.transaction();
    message.uint8();
    const [commitLsn, endLsn] = [message.uint64(), message.uint64()];
    const committedAtMs = EPOCH_MS + Number(message.int64() / MICROSECONDS);
    this.open = null;
    const seen = {
      xid,
      commit_lsn: formatLsn(commitLsn),
      end_lsn: formatLsn(endLsn),
      committed_at: timestampOf(committedAtMs),
      tables: [...tables.values()].sort((one, other) => (one.table < other.table ? -1 : 1)),
      rows,
      marks,
    };
    return { seen, keptBytes: values.bytes };
  }

  private change(message: MessageCursor, bytes: Buffer): null {
    const { rows, values } = this.transaction();
    const kind = bytes[0] === 0x49 ? 'insert' : bytes[0] === 0x55 ? 'update' : 'delete';
    const relation = this.relations.get(message.uint32());
    this.count(relation, kind);
    if (rows.length < DIFF_ROWS_MAX && bytes[TUPLE_AT] !== LEFT_AWAY) rows.push(rowOf(message, relation, kind, values));
    return null;
  }

  private truncate(message: MessageCursor): null {
    const count = message.uint32();
    // Whether it cascades and restarts sequences: the tables stand here one by one.
    message.uint8();
    for (let index = 0; index < count; index += 1) this.count(this.relations.get(message.uint32()), 'truncate');
    return null;
  }

  private message(message: MessageCursor): null {
    // Outside of a transaction anybody's word stands at once, whether what it speaks of commits or not.
    if ((message.uint8() & IS_TRANSACTIONAL) === 0) return null;
    message.uint64();
    if (message.name() !== MARK_PREFIX) return null;
    const { marks } = this.transaction();
    // What is longer is no mark, and stays too long to be read as one.
    const content = message.view(Math.min(message.uint32(), MARK_MAX_BYTES + 1));
    if (marks.length < MARKS_MAX) marks.push(content.toString('utf8'));
    return null;
  }

  private count({ table, replicaIdentity }: LoggedRelation, kind: ChangeKind): void {
    const { tables } = this.transaction();
    const known = tables.get(table);
    const counts = known ?? { table, insert: 0, update: 0, delete: 0, truncate: 0, replica_identity: replicaIdentity };
    counts[kind] += 1;
    if (known === undefined) tables.set(table, counts);
  }

  private transaction(): OpenTransaction {
    if (this.open === null) throw new ChangeLogFault('malformed');
    return this.open;
  }
}

const rowOf = (
  message: MessageCursor,
  { table, columns }: LoggedRelation,
  kind: LoggedRow['kind'],
  values: KeptValues,
): LoggedRow => {
  let [before, after]: [Tuple | null, Tuple | null] = [null, null];
  let part = message.uint8();
  if (kind !== 'insert' && (part === KEY_TUPLE || part === OLD_TUPLE)) {
    before = tupleOf(message, columns, part === KEY_TUPLE, values);
    part = kind === 'delete' ? NEW_TUPLE : message.uint8();
  } else if (kind === 'delete') {
    throw new ChangeLogFault('malformed');
  }
  if (part !== NEW_TUPLE) throw new ChangeLogFault('malformed');
  if (kind !== 'delete') after = tupleOf(message, columns, false, values);
  return { table, kind, columns, old: before, new: after };
};

const [KEY_TUPLE, OLD_TUPLE, NEW_TUPLE] = [0x4b, 0x4f, 0x4e];
const [IS_NULL, IS_UNCHANGED, IS_TEXT] = [0x6e, 0x75, 0x74];

const tupleOf = (
  message: MessageCursor,
  columns: LoggedRelation['columns'],
  isKeyOnly: boolean,
  values: KeptValues,
): Tuple => {
  if (message.uint16() !== columns.length) throw new ChangeLogFault('malformed');
  return columns.map((column) => {
    const value = valueOf(message, values);
    // Such a row holds null in the place of each column that is not of the key.
    return isKeyOnly && !column.is_key ? null : value;
  });
};

const valueOf = (message: MessageCursor, values: KeptValues): LoggedValue => {
  switch (message.uint8()) {
    case IS_NULL:
      return { null: true };
    case IS_UNCHANGED:
      return { unchanged: true };
    case IS_TEXT:
      return values.keep(message.view(message.uint32()));
    default:
      throw new ChangeLogFault('malformed');
  }
};
