/**
 * What a field may hold. `plain`: a text, number or flag. `node`: one node, which names its type. `nodes`: an array of them.
 * `blanks`: the same, where the parser writes `{}` for what is left away. A list: one of these texts. `=Type`: the fields of that
 * type without its name. `walked`: read by the rule of its own type (statement-walk.ts) and not here.
 */
export type FieldRule = 'plain' | 'node' | 'nodes' | 'blanks' | 'walked' | `=${string}` | readonly string[];

const P = 'plain';
const N = 'node';
const NN = 'nodes';

const JSON_OUTPUT = '=JsonOutput';
const WITH = 'walked';
const TARGET = 'walked';

/** Statements, and the parts that only they have. */
const STATEMENTS = {
  SelectStmt: {
    distinctClause: 'blanks',
    targetList: NN,
    fromClause: NN,
    whereClause: N,
    groupClause: NN,
    groupDistinct: P,
    havingClause: N,
    windowClause: NN,
    valuesLists: NN,
    sortClause: NN,
    limitOffset: N,
    limitCount: N,
    limitOption: P,
    lockingClause: NN,
    withClause: WITH,
    op: ['SETOP_NONE', 'SETOP_UNION', 'SETOP_INTERSECT', 'SETOP_EXCEPT'],
    all: P,
    larg: '=SelectStmt',
    rarg: '=SelectStmt',
  },
  InsertStmt: {
    relation: TARGET,
    cols: NN,
    selectStmt: N,
    onConflictClause: '=OnConflictClause',
    returningClause: '=ReturningClause',
    withClause: WITH,
    override: P,
  },
  UpdateStmt: {
    relation: TARGET,
    targetList: NN,
    whereClause: N,
    fromClause: NN,
    returningClause: '=ReturningClause',
    withClause: WITH,
  },
  DeleteStmt: {
    relation: TARGET,
    usingClause: NN,
    whereClause: N,
    returningClause: '=ReturningClause',
    withClause: WITH,
  },
  MergeStmt: {
    relation: TARGET,
    sourceRelation: N,
    joinCondition: N,
    mergeWhenClauses: NN,
    returningClause: '=ReturningClause',
    withClause: WITH,
  },
  TruncateStmt: { relations: TARGET, behavior: ['DROP_RESTRICT'] },
  MergeWhenClause: {
    matchKind: P,
    commandType: ['CMD_INSERT', 'CMD_UPDATE', 'CMD_DELETE', 'CMD_NOTHING'],
    override: P,
    condition: N,
    targetList: NN,
    values: NN,
  },
  OnConflictClause: {
    action: ['ONCONFLICT_NOTHING', 'ONCONFLICT_UPDATE'],
    infer: '=InferClause',
    targetList: NN,
    whereClause: N,
  },
  InferClause: { indexElems: NN, whereClause: N, conname: P },
  IndexElem: {
    name: P,
    expr: N,
    collation: 'walked',
    ordering: ['SORTBY_DEFAULT'],
    nulls_ordering: ['SORTBY_NULLS_DEFAULT'],
  },
  ReturningClause: { options: NN, exprs: NN },
  ReturningOption: { option: P, value: P },
  LockingClause: { lockedRels: 'walked', strength: P, waitPolicy: P },
  CommonTableExpr: {
    ctename: P,
    aliascolnames: NN,
    ctematerialized: P,
    ctequery: N,
    search_clause: '=CTESearchClause',
    cycle_clause: '=CTECycleClause',
  },
  CTESearchClause: { search_col_list: NN, search_breadth_first: P, search_seq_column: P },
  CTECycleClause: {
    cycle_col_list: NN,
    cycle_mark_column: P,
    cycle_mark_value: N,
    cycle_mark_default: N,
    cycle_path_column: P,
  },
} satisfies Record<string, Record<string, FieldRule>>;

/** What stands in FROM, and how rows are grouped and ordered. */
const SOURCES = {
  RangeVar: { schemaname: P, relname: P, inh: P, relpersistence: ['p'], alias: '=Alias' },
  Alias: { aliasname: P, colnames: NN },
  JoinExpr: {
    jointype: P,
    isNatural: P,
    larg: N,
    rarg: N,
    usingClause: NN,
    join_using_alias: '=Alias',
    quals: N,
    alias: '=Alias',
  },
  RangeSubselect: { lateral: P, subquery: N, alias: '=Alias' },
  RangeFunction: { lateral: P, ordinality: P, is_rowsfrom: P, functions: NN, alias: '=Alias', coldeflist: NN },
  ColumnDef: { colname: P, typeName: '=TypeName', is_local: P, collClause: '=CollateClause' },
  RangeTableSample: { relation: N, method: 'walked', args: NN, repeatable: N },
  ResTarget: { name: P, indirection: 'walked', val: N },
  SortBy: { node: N, sortby_dir: P, sortby_nulls: P, useOp: 'walked' },
  GroupingSet: { kind: P, content: NN },
  WindowDef: {
    name: P,
    refname: P,
    partitionClause: NN,
    orderClause: NN,
    frameOptions: P,
    startOffset: N,
    endOffset: N,
  },
} satisfies Record<string, Record<string, FieldRule>>;

const EXPRESSIONS = {
  A_Const: {
    ival: '=Integer',
    fval: '=Float',
    boolval: '=Boolean',
    sval: '=String',
    bsval: '=BitString',
    isnull: P,
  },
  Integer: { ival: P },
  Float: { fval: P },
  Boolean: { boolval: P },
  String: { sval: P },
  BitString: { bsval: P },
  List: { items: 'blanks' },
  ColumnRef: { fields: NN },
  A_Star: {},
  ParamRef: { number: P },
  A_Expr: {
    kind: [
      'AEXPR_OP',
      'AEXPR_OP_ANY',
      'AEXPR_OP_ALL',
      'AEXPR_DISTINCT',
      'AEXPR_NOT_DISTINCT',
      'AEXPR_NULLIF',
      'AEXPR_IN',
      'AEXPR_LIKE',
      'AEXPR_ILIKE',
      'AEXPR_SIMILAR',
      'AEXPR_BETWEEN',
      'AEXPR_NOT_BETWEEN',
      'AEXPR_BETWEEN_SYM',
      'AEXPR_NOT_BETWEEN_SYM',
    ],
    name: 'walked',
    lexpr: N,
    rexpr: N,
    rexpr_list_start: P,
    rexpr_list_end: P,
  },
  BoolExpr: { boolop: P, args: NN },
  NullTest: { arg: N, nulltesttype: P, argisrow: P },
  BooleanTest: { arg: N, booltesttype: P },
  SubLink: {
    subLinkType: [
      'EXISTS_SUBLINK',
      'ALL_SUBLINK',
      'ANY_SUBLINK',
      'ROWCOMPARE_SUBLINK',
      'EXPR_SUBLINK',
      'ARRAY_SUBLINK',
    ],
    testexpr: N,
    operName: 'walked',
    subselect: N,
  },
  CaseExpr: { arg: N, args: NN, defresult: N },
  CaseWhen: { expr: N, result: N },
  CoalesceExpr: { args: NN },
  MinMaxExpr: { op: P, args: NN },
  RowExpr: { args: NN, row_format: P, colnames: NN },
  A_ArrayExpr: { elements: NN, list_start: P, list_end: P },
  A_Indirection: { arg: N, indirection: 'walked' },
  A_Indices: { is_slice: P, lidx: N, uidx: N },
  TypeCast: { arg: N, typeName: '=TypeName' },
  TypeName: { names: 'walked', typmods: NN, typemod: P, arrayBounds: NN },
  CollateClause: { arg: N, collname: 'walked' },
  FuncCall: {
    funcname: 'walked',
    args: NN,
    agg_order: NN,
    agg_filter: N,
    over: '=WindowDef',
    agg_within_group: P,
    agg_star: P,
    agg_distinct: P,
    func_variadic: P,
    funcformat: P,
  },
  NamedArgExpr: { arg: N, name: P, argnumber: P },
  GroupingFunc: { args: NN },
  MergeSupportFunc: { msftype: P },
  SQLValueFunction: { op: P, typmod: P },
  SetToDefault: {},
} satisfies Record<string, Record<string, FieldRule>>;

/** What SQL/JSON writes without a call. */
const SQL_JSON = {
  JsonFormat: { format_type: P, encoding: P },
  JsonReturning: { format: '=JsonFormat' },
  JsonOutput: { typeName: '=TypeName', returning: '=JsonReturning' },
  JsonValueExpr: { raw_expr: N, format: '=JsonFormat' },
  JsonKeyValue: { key: N, value: '=JsonValueExpr' },
  JsonArgument: { val: '=JsonValueExpr', name: P },
  JsonBehavior: { btype: P, expr: N },
  JsonIsPredicate: { expr: N, format: '=JsonFormat', item_type: P, unique_keys: P },
  JsonObjectConstructor: { exprs: NN, output: JSON_OUTPUT, absent_on_null: P, unique: P },
  JsonArrayConstructor: { exprs: NN, output: JSON_OUTPUT, absent_on_null: P },
  JsonArrayQueryConstructor: { query: N, output: JSON_OUTPUT, format: '=JsonFormat', absent_on_null: P },
  JsonAggConstructor: { output: JSON_OUTPUT, agg_filter: N, agg_order: NN, over: '=WindowDef' },
  JsonObjectAgg: { constructor: '=JsonAggConstructor' as const, arg: '=JsonKeyValue', absent_on_null: P, unique: P },
  JsonArrayAgg: { constructor: '=JsonAggConstructor' as const, arg: '=JsonValueExpr', absent_on_null: P },
  JsonFuncExpr: {
    op: P,
    context_item: '=JsonValueExpr',
    pathspec: N,
    passing: NN,
    output: JSON_OUTPUT,
    on_empty: '=JsonBehavior',
    on_error: '=JsonBehavior',
    wrapper: P,
    quotes: P,
  },
} satisfies Record<string, Record<string, FieldRule>>;

const GRAMMAR = new Map<string, ReadonlyMap<string, FieldRule>>(
  Object.entries({ ...STATEMENTS, ...SOURCES, ...EXPRESSIONS, ...SQL_JSON }).map(([type, fields]) => [
    type,
    new Map<string, FieldRule>(Object.entries(fields)),
  ]),
);

/** The fields that a node of the type may have; undefined for a type that no statement may hold. */
export const fieldsOf = (type: string): ReadonlyMap<string, FieldRule> | undefined => GRAMMAR.get(type);
