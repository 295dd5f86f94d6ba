import type { ChangeKind } from '#libs/domain/connectors';
import { type FieldRule, fieldsOf } from './closed-grammar.js';
import { CommonTables } from './common-tables.js';
import type { Findings } from './findings.js';
import {
  checkCollation,
  checkField,
  checkOperator,
  checkSampling,
  checkType,
  functionNamed,
  tableNamed,
} from './named-parts.js';
import { namesColumnByAlias } from './plain-functions.js';
import { refusedField, refusedPart } from './refused-parts.js';
import { refusal } from './refusal.js';
import type { SqlRules } from './sql-statement.js';
import { type Fields, fieldsIn, listIn, namesIn, textIn, typeAndFields } from './tree.js';

/** Levels of the tree: far more than people write, and far fewer than the stack holds. */
const DEPTH_MAX = 400;

/** SQL/JSON's own words, named in the facts as the functions that they are. */
const SQL_JSON_NAMES: Readonly<Record<string, string>> = {
  JsonObjectConstructor: 'json_object',
  JsonArrayConstructor: 'json_array',
  JsonArrayQueryConstructor: 'json_array',
  JsonObjectAgg: 'json_objectagg',
  JsonArrayAgg: 'json_arrayagg',
  JSON_EXISTS_OP: 'json_exists',
  JSON_QUERY_OP: 'json_query',
  JSON_VALUE_OP: 'json_value',
};

/** Where a part stands. */
interface Place {
  /** Common table expressions that are seen from here. */
  readonly common: CommonTables;
  readonly depth: number;
}

type PartRule = (fields: Fields, place: Place) => void;

/**
 * Goes through a whole statement. It knows every type and every field that may stand in it: what it does not know it refuses, so
 * that a grammar with more in it lets nothing through.
 */
export class StatementWalk {
  private readonly rules: ReadonlyMap<string, PartRule> = new Map<string, PartRule>([
    ['InsertStmt', (fields) => this.insert(fields)],
    ['UpdateStmt', (fields) => this.change(fields, 'update')],
    ['DeleteStmt', (fields) => this.change(fields, 'delete')],
    ['MergeStmt', (fields) => this.merge(fields)],
    ['TruncateStmt', (fields) => this.truncate(fields)],
    ['LockingClause', (fields) => this.lock(fields)],
    ['RangeVar', (fields, place) => this.table(fields, place)],
    ['RangeFunction', (fields) => this.functionInFrom(fields)],
    ['RangeTableSample', (fields) => checkSampling(namesIn(fields['method']))],
    ['ColumnRef', (fields) => this.column(fields)],
    ['ParamRef', (fields) => this.parameter(fields)],
    [
      'FuncCall',
      (fields) => void this.findings.functions.add(functionNamed(namesIn(fields['funcname']), this.allowed)),
    ],
    ['TypeName', (fields) => this.type(fields)],
    ['CollateClause', (fields) => checkCollation(namesIn(fields['collname']), this.allowed)],
    ['IndexElem', (fields) => this.ifThere(fields['collation'], (names) => checkCollation(names, this.allowed))],
    ['A_Expr', (fields) => checkOperator(namesIn(fields['name']))],
    ['SubLink', (fields) => this.ifThere(fields['operName'], checkOperator)],
    ['SortBy', (fields) => this.ifThere(fields['useOp'], checkOperator)],
    ['A_Indirection', (fields, place) => this.indirection(fields, place, false)],
    ['ResTarget', (fields, place) => this.indirection(fields, place, true)],
    ['JsonFuncExpr', (fields) => this.sqlJson(textIn(fields['op']))],
    ...Object.keys(SQL_JSON_NAMES)
      .filter((type) => type.startsWith('Json'))
      .map((type): [string, PartRule] => [type, () => this.sqlJson(type)]),
  ]);

  constructor(
    private readonly allowed: SqlRules,
    private readonly findings: Findings,
  ) {}

  root(node: unknown): void {
    this.node(node, { common: CommonTables.NONE, depth: 0 });
    this.findings.checkColumns();
  }

  private node(value: unknown, place: Place): void {
    const [type, fields] = typeAndFields(value);
    this.part(type, fields, place);
  }

  private part(type: string, fields: Fields, { common, depth }: Place): void {
    if (depth > DEPTH_MAX) throw refusal('be nested that deeply', 'Split it into several calls');
    const known = fieldsOf(type);
    if (known === undefined) throw refusedPart(type);
    const outside = { common, depth: depth + 1 };
    const inside = fields['withClause'] === undefined ? outside : this.withClause(fields['withClause'], outside);
    this.rules.get(type)?.(fields, inside);
    for (const [name, value] of Object.entries(fields)) {
      // Where it stands in the text.
      if (name === 'location') continue;
      const rule = known.get(name);
      if (rule === undefined) throw name === 'intoClause' ? refusedPart('IntoClause') : refusedField(type, name);
      this.field(type, name, rule, value, inside);
    }
  }

  private field(type: string, name: string, rule: FieldRule, value: unknown, place: Place): void {
    if (rule === 'walked') return;
    if (rule === 'plain') {
      if (typeof value === 'object') throw refusedField(type, name);
    } else if (rule === 'node') {
      this.node(value, place);
    } else if (rule === 'nodes' || rule === 'blanks') {
      for (const one of listIn(value)) {
        if (rule === 'nodes' || Object.keys(fieldsIn(one)).length > 0) this.node(one, place);
      }
    } else if (typeof rule === 'string') {
      this.part(rule.slice(1), fieldsIn(value), place);
    } else if (typeof value !== 'string' || !rule.includes(value)) {
      throw refusedField(type, name);
    }
  }

  /**
   * The place inside, where its names are seen. Each sees those before it; with RECURSIVE all of them, itself too. One that is
   * not recursive does not see itself: in `WITH t AS (SELECT * FROM t) …` the inner t is the table.
   */
  private withClause(value: unknown, outside: Place): Place {
    const clause = fieldsIn(value);
    for (const name of Object.keys(clause)) {
      if (!['ctes', 'recursive', 'location'].includes(name)) throw refusedField('WithClause', name);
    }
    const tables = listIn(clause['ctes']).map((one) => {
      const [type, fields] = typeAndFields(one);
      if (type !== 'CommonTableExpr') throw refusedPart(type);
      return fields;
    });
    const names = tables.map((table) => textIn(table['ctename']));
    const isRecursive = clause['recursive'] === true;
    tables.forEach((table, index) => {
      const seen = outside.common.with(isRecursive ? names : names.slice(0, index));
      this.part('CommonTableExpr', table, { common: seen, depth: outside.depth });
    });
    return { common: outside.common.with(names), depth: outside.depth };
  }

  private insert(fields: Fields): void {
    const conflict = fields['onConflictClause'];
    const updates = conflict !== undefined && fieldsIn(conflict)['action'] === 'ONCONFLICT_UPDATE';
    this.findings.modifications.push({ kind: 'insert', hasWhere: null });
    this.target(fields['relation'], updates ? ['insert', 'update'] : ['insert']);
  }

  private change(fields: Fields, kind: 'update' | 'delete'): void {
    this.findings.modifications.push({ kind, hasWhere: fields['whereClause'] !== undefined });
    this.target(fields['relation'], [kind]);
  }

  private merge(fields: Fields): void {
    const kinds = listIn(fields['mergeWhenClauses']).flatMap((clause): ChangeKind[] => {
      switch (typeAndFields(clause)[1]['commandType']) {
        case 'CMD_INSERT':
          return ['insert'];
        case 'CMD_UPDATE':
          return ['update'];
        case 'CMD_DELETE':
          return ['delete'];
        default:
          return [];
      }
    });
    this.findings.modifications.push({ kind: 'merge', hasWhere: null });
    this.target(fields['relation'], kinds);
  }

  private truncate(fields: Fields): void {
    this.findings.modifications.push({ kind: 'truncate', hasWhere: null });
    for (const relation of listIn(fields['relations'])) {
      const [type, range] = typeAndFields(relation);
      if (type !== 'RangeVar') throw refusedPart(type);
      this.target(range, ['truncate']);
    }
  }

  /** What is changed is always a table: a common table expression of its name does not hide it. */
  private target(value: unknown, kinds: readonly ChangeKind[]): void {
    const range = fieldsIn(value);
    this.findings.writesTo(tableNamed(range, this.allowed, true), kinds);
    this.closed('RangeVar', range);
  }

  /** The fields of a part whose own rule is not to be asked. */
  private closed(type: string, fields: Fields): void {
    for (const [name, value] of Object.entries(fields)) {
      if (name === 'location') continue;
      const rule = fieldsOf(type)?.get(name);
      if (rule === undefined) throw refusedField(type, name);
      this.field(type, name, rule, value, { common: CommonTables.NONE, depth: 0 });
    }
  }

  private lock(fields: Fields): void {
    if (this.allowed.tool === 'query') {
      throw refusal('lock rows in a query (FOR UPDATE or FOR SHARE)', 'Leave the clause away, or use the tool execute');
    }
    this.findings.locksRows = true;
    for (const relation of listIn(fields['lockedRels'])) {
      const [type, range] = typeAndFields(relation);
      // What stands in FROM under this name: no table of its own.
      if (type !== 'RangeVar' || range['schemaname'] !== undefined || range['catalogname'] !== undefined) {
        throw refusal('lock rows by a name with a schema', 'Name the table as FROM calls it');
      }
      this.closed('RangeVar', range);
    }
  }

  private table(range: Fields, { common }: Place): void {
    const isCommon =
      range['schemaname'] === undefined && range['catalogname'] === undefined && common.has(textIn(range['relname']));
    if (!isCommon) this.findings.tables.add(tableNamed(range, this.allowed, false));
  }

  private functionInFrom(fields: Fields): void {
    const calls = listIn(fields['functions']).map((item) => listIn(typeAndFields(item)[1]['items']));
    const names = calls.map(([call]) => {
      const [type, called] = typeAndFields(call);
      if (type !== 'FuncCall') throw refusal('read from anything but a table or a function', 'Use it in a SELECT list');
      return namesIn(called['funcname']).at(-1) ?? '';
    });
    const alias = fields['alias'] === undefined ? null : fieldsIn(fields['alias']);
    const columns = [
      ...(alias === null ? [] : namesIn(alias['colnames'])),
      ...listIn(fields['coldeflist']).map(columnDefined),
      ...calls.flatMap(([, defined]) => definedBy(defined).map(columnDefined)),
    ];
    const calledAs = alias === null ? names : [textIn(alias['aliasname'])];
    // Without a name of its own the one column has the alias for it: with one, t.t calls the function t.
    const isNamedAsAlias = columns.length === 0 && names.every(namesColumnByAlias);
    for (const name of calledAs)
      this.findings.callsInFrom(name, [...names, ...columns, ...(isNamedAsAlias ? [name] : [])]);
  }

  private column(fields: Fields): void {
    const parts = listIn(fields['fields']).map((part) => {
      const [type, name] = typeAndFields(part);
      if (type === 'A_Star') return null;
      if (type !== 'String') throw refusedPart(type);
      return textIn(name['sval']);
    });
    parts.forEach((part, index) => {
      const before = parts[index - 1];
      if (part !== null && typeof before === 'string') this.findings.readsColumn(before, part);
    });
  }

  private parameter(fields: Fields): void {
    const number = fields['number'];
    if (typeof number !== 'number' || number < 1)
      throw refusal('have a parameter below $1', 'Count parameters from $1');
    this.findings.parameters.add(number);
  }

  private type(fields: Fields): void {
    checkType(namesIn(fields['names']), this.allowed);
    for (const bound of listIn(fields['typmods'])) {
      const [type] = typeAndFields(bound);
      if (type !== 'A_Const') throw refusedPart(type);
    }
  }

  private indirection(fields: Fields, place: Place, isTarget: boolean): void {
    for (const step of listIn(fields['indirection'])) {
      const [type, named] = typeAndFields(step);
      if (type === 'String') {
        if (!isTarget) checkField(textIn(named['sval']), this.allowed);
      } else if (type === 'A_Indices' || (type === 'A_Star' && !isTarget)) this.part(type, named, place);
      else throw refusedPart(type);
    }
  }

  private sqlJson(type: string): void {
    const name = SQL_JSON_NAMES[type];
    if (name === undefined) throw refusedPart(type);
    this.findings.functions.add(name);
  }

  private ifThere(value: unknown, check: (names: readonly string[]) => void): void {
    if (value !== undefined) check(namesIn(value));
  }
}

const definedBy = (value: unknown): readonly unknown[] =>
  value === undefined || Object.keys(fieldsIn(value)).length === 0 ? [] : listIn(typeAndFields(value)[1]['items']);

const columnDefined = (value: unknown): string => {
  const [type, fields] = typeAndFields(value);
  if (type !== 'ColumnDef') throw refusedPart(type);
  return textIn(fields['colname']);
};
