import { POLICY_DIAGNOSTICS, type PolicyDiagnosticCode } from '../diagnostics.js';
import { didYouMean } from '../did-you-mean.js';
import { ArgumentReads } from './argument-reads.js';
import { checkFunction } from './check-function.js';
import type { Vocabulary } from './facts.js';
import { Guards } from './guards.js';
import { PATTERN_MAX_CHARACTERS } from './patterns.js';
import { patternSteps } from './pattern-steps.js';
import { TYPE_NAMES } from './signatures.js';
import {
  type Call,
  type Comprehension,
  type Constant,
  type Expression,
  literalText,
  literalValue,
  type ParsedExpression,
  pathOf,
  required,
  type Select,
} from './syntax-tree.js';
import {
  BOOL,
  type CelType,
  DOUBLE,
  DYN,
  ERROR,
  type Field,
  INT,
  isAssignable,
  isComparable,
  join,
  listOf,
  mapOf,
  nameOf,
  NULL,
  STRING,
  TYPE,
} from './types.js';
import { capital, INDEXED_WITH, TEXT_PARTS_HINT } from './wordings.js';

export interface Problem {
  readonly code: PolicyDiagnosticCode;
  /** UTF-16 offset in the expression. */
  readonly offset: number;
  readonly message: string;
  readonly hint?: string;
}

export interface CheckedTypes {
  readonly problems: readonly Problem[];
  readonly hasErrors: boolean;
  /** Ids of the nodes that read a fact some calls lack, by the fact's path. */
  readonly optionalReads: ReadonlyMap<bigint, string>;
  /** What building its patterns takes; never more than was allowed. */
  readonly patternSteps: number;
}

type Scope = ReadonlyMap<string, CelType>;

/** Finds what can be known to be wrong before any call: names, fields, functions, types, literals. */
export const checkTypes = (parsed: ParsedExpression, facts: Vocabulary, patternStepsMax: number): CheckedTypes =>
  new TypeCheck(parsed, facts, patternStepsMax).run();

class TypeCheck {
  private readonly problems: Problem[] = [];
  private readonly guards = new Guards();
  private readonly reads = new ArgumentReads();
  private readonly positions: Readonly<Record<string, number>>;
  private readsFacts = false;
  private patternSteps = 0;

  constructor(
    private readonly parsed: ParsedExpression,
    private readonly facts: Vocabulary,
    private readonly patternStepsMax: number,
  ) {
    this.positions = parsed.sourceInfo?.positions ?? {};
  }

  run(): CheckedTypes {
    const root = required(this.parsed.expr);
    const type = this.typeOf(root, new Map());
    if (!isAssignable(BOOL, type) || type.kind === 'nullable') {
      this.add('not_boolean', root, `The condition is ${nameOf(type)}, not a bool.`);
    }
    if (this.problems.length === 0 && !this.readsFacts) {
      this.add('constant_condition', root, 'The condition reads nothing of the call: it is the same for every call.');
    }
    for (const { id, message, hint } of this.guards.unguarded()) {
      this.addAt('unguarded_fact', this.positionOf(id), message, hint);
    }
    for (const { code, id, message, hint } of this.reads.findings())
      this.addAt(code, this.positionOf(id), message, hint);
    const hasErrors = this.problems.some(({ code }) => POLICY_DIAGNOSTICS[code].severity === 'error');
    const { optionalReads } = this.guards;
    return { problems: this.problems, hasErrors, optionalReads, patternSteps: this.patternSteps };
  }

  private typeOf(expression: Expression, scope: Scope): CelType {
    const { exprKind } = expression;
    switch (exprKind.case) {
      case 'constExpr':
        return this.constant(expression, exprKind.value.constantKind);
      case 'identExpr':
        return this.identifier(expression, exprKind.value.name, scope);
      case 'selectExpr':
        return this.select(expression, exprKind.value, scope);
      case 'callExpr':
        return this.call(expression, exprKind.value, scope);
      case 'listExpr':
        return listOf(this.joined(exprKind.value.elements, scope));
      case 'structExpr':
        return this.struct(expression, scope);
      case 'comprehensionExpr':
        return this.comprehension(exprKind.value, scope);
      case undefined:
        throw new Error('the syntax tree has a node of no kind');
    }
  }

  private joined(elements: readonly Expression[], scope: Scope): CelType {
    const types = elements.map((element) => this.typeOf(element, scope));
    return types.length === 0 ? DYN : types.reduce(join);
  }

  private constant(expression: Expression, constant: Constant): CelType {
    switch (constant.case) {
      case 'boolValue':
        return BOOL;
      case 'doubleValue':
        return DOUBLE;
      case 'int64Value':
        return this.integer(expression, constant.value);
      case 'nullValue':
        return NULL;
      case 'stringValue':
        return STRING;
      default:
        this.add('unsupported_expression', expression, 'Bytes and unsigned numbers are not part of conditions.');
        return ERROR;
    }
  }

  private integer(expression: Expression, value: bigint): CelType {
    if (BigInt.asIntN(64, value) === value) return INT;
    this.add('invalid_literal', expression, `The number ${value} does not fit into 64 bits.`);
    return ERROR;
  }

  private identifier(expression: Expression, name: string, scope: Scope): CelType {
    const local = scope.get(name);
    if (local !== undefined) return local;
    if (Object.hasOwn(this.facts, name)) {
      this.readsFacts = true;
      this.reads.noteFact(name);
      return (this.facts[name] as Field).type;
    }
    if (TYPE_NAMES.has(name)) return TYPE;
    const known = [...Object.keys(this.facts), ...scope.keys()].filter((one) => !one.startsWith('@'));
    this.add('unknown_fact', expression, `There is no fact "${name}".`, didYouMean(name, known));
    return ERROR;
  }

  private select(expression: Expression, { operand, field, testOnly }: Select, scope: Scope): CelType {
    const target = required(operand);
    const type = this.typeOf(target, scope);
    const result = this.fieldOf(expression, target, type, field, testOnly);
    return testOnly && result.kind !== 'error' ? BOOL : result;
  }

  private fieldOf(expression: Expression, target: Expression, type: CelType, field: string, isTest: boolean): CelType {
    switch (type.kind) {
      case 'dyn':
      case 'error':
        return type;
      case 'map':
        return this.reads.memberOf(type, field, expression.id, isTest);
      case 'record':
        return this.recordField(expression, type, field, isTest);
      default: {
        const name = pathOf(target) ?? 'The value';
        this.add('type_mismatch', expression, `${name} is ${nameOf(type)} and has no field "${field}".`);
        return ERROR;
      }
    }
  }

  private recordField(
    expression: Expression,
    { name, fields }: Extract<CelType, { kind: 'record' }>,
    field: string,
    isTest: boolean,
    at = expression,
  ): CelType {
    const path = `${name}.${field}`;
    if (!Object.hasOwn(fields, field)) {
      const known = Object.keys(fields).map((one) => `${name}.${one}`);
      this.add('unknown_fact', at, `There is no fact "${path}".`, didYouMean(path, known));
      return ERROR;
    }
    const { type, presence, meaning } = fields[field] as Field;
    if (presence === 'unavailable') {
      this.add('fact_not_available', expression, `No connector of this version supplies ${path}, ${meaning}.`);
      return ERROR;
    }
    if (isTest && presence === 'always') {
      this.add('always_present', expression, `${path} is always there, so has(${path}) is always true.`);
    }
    if (presence === 'optional') this.guards.noteOptional(expression, path, isTest);
    return type;
  }

  private call(expression: Expression, call: Call, scope: Scope): CelType {
    const { function: name, args, target } = call;
    const types = args.map((arg) => this.typeOf(arg, scope));
    const targetType = target === undefined ? undefined : this.typeOf(target, scope);
    switch (name) {
      case '_==_':
      case '_!=_':
        return this.equality(expression, args, types);
      case '@in':
        return this.membership(expression, args, types);
      case '_[_]':
        return this.index(expression, args, types);
      case '_?_:_':
        return this.conditional(args, types);
      default:
        return this.function(expression, call, types, targetType);
    }
  }

  private equality(expression: Expression, args: readonly Expression[], types: readonly CelType[]): CelType {
    const [left, right] = types as [CelType, CelType];
    this.guards.noteNullTest(required(args[0]), left, required(args[1]), right);
    const group = [left, right].find(({ kind }) => kind === 'record');
    if (group?.kind === 'record') {
      this.add('type_mismatch', expression, `${group.name} is a group of facts: compare one of its fields.`);
    } else if (!isComparable(left, right)) {
      this.add('type_mismatch', expression, `${capital(nameOf(left))} is never equal to ${nameOf(right)}.`);
    } else {
      this.checkChoice(left, required(args[1]), pathOf(required(args[0])));
      this.checkChoice(right, required(args[0]), pathOf(required(args[1])));
    }
    return BOOL;
  }

  /** A literal that the other side can never be. */
  private checkChoice(type: CelType, other: Expression, path: string | null): void {
    const value = literalValue(other);
    const known: readonly (string | bigint)[] | undefined =
      type.kind === 'string' || type.kind === 'int' ? type.oneOf : undefined;
    if (known === undefined || value === null || known.includes(value)) return;
    const written = typeof value === 'string' ? `"${value}"` : String(value);
    this.add('never_equal', other, `${path ?? 'The value'} is never ${written}; it is one of ${known.join(', ')}.`);
  }

  private membership(expression: Expression, args: readonly Expression[], types: readonly CelType[]): CelType {
    const [item, container] = types as [CelType, CelType];
    const list = required(args[1]).exprKind;
    if (container.kind === 'list') {
      if (!isComparable(item, container.element)) {
        this.add(
          'type_mismatch',
          expression,
          `${capital(nameOf(item))} is never in a list of ${nameOf(container.element)}.`,
        );
      } else if (list.case === 'listExpr') {
        for (const element of list.value.elements) this.checkChoice(item, element, pathOf(required(args[0])));
      }
    } else if (container.kind === 'map' || container.kind === 'dyn' || container.kind === 'error') {
      if (container.kind === 'map' && !isAssignable(STRING, item)) {
        this.add('type_mismatch', expression, `The keys of a map are strings, not ${nameOf(item)}.`);
      }
      this.reads.noteLook(container, literalText(args[0]), expression.id);
    } else {
      const message = `"in" looks into a list or a map, not into ${nameOf(container)}.`;
      this.add('type_mismatch', expression, message, 'Test a fact with has(), a part of a string with contains().');
    }
    return BOOL;
  }

  private index(expression: Expression, args: readonly Expression[], types: readonly CelType[]): CelType {
    const [container, key] = types as [CelType, CelType];
    const field = literalText(args[1]);
    if (container.kind === 'record' && field !== null) {
      return this.recordField(expression, container, field, false, required(args[1]));
    }
    const isList = container.kind === 'list' && isAssignable(INT, key);
    const isMap = container.kind === 'map' && isAssignable(STRING, key);
    if (container.kind === 'list' && isList) return container.element;
    if (container.kind === 'map' && isMap) return this.reads.memberOf(container, field, required(args[1]).id, false);
    if (container.kind === 'dyn' || container.kind === 'error') return container;
    const wanted = INDEXED_WITH[container.kind];
    if (wanted === undefined) {
      const hint = container.kind === 'string' ? TEXT_PARTS_HINT : 'Index an argument or a list that is one.';
      this.add('type_mismatch', expression, `${capital(nameOf(container))} has no items to index.`, hint);
    } else {
      const message = `${capital(nameOf(container))} is indexed with ${wanted}, not with ${nameOf(key)}.`;
      this.add('type_mismatch', required(args[1]), message, `Write ${wanted} in the brackets.`);
    }
    return ERROR;
  }

  private conditional(args: readonly Expression[], types: readonly CelType[]): CelType {
    const [condition, yes, no] = types as [CelType, CelType, CelType];
    if (!isAssignable(BOOL, condition)) {
      this.add('type_mismatch', required(args[0]), `Before "?" stands ${nameOf(condition)}, not a bool.`);
    }
    return join(yes, no);
  }

  private function(expression: Expression, call: Call, types: readonly CelType[], target?: CelType): CelType {
    if (call.function === 'matches' && !this.mayBuild(expression, literalText(call.args[0]))) return BOOL;
    const { result, findings } = checkFunction(call, types, target);
    for (const { code, at, message, hint } of findings) this.add(code, at ?? expression, message, hint);
    this.guards.noteUse(call.target, target);
    call.args.forEach((arg, index) => this.guards.noteUse(arg, types[index]));
    return result;
  }

  /** Before the pattern is built, which is what takes the time. */
  private mayBuild(expression: Expression, pattern: string | null): boolean {
    const steps = this.patternSteps + Math.ceil(patternSteps((pattern ?? '').slice(0, PATTERN_MAX_CHARACTERS)));
    if (steps <= this.patternStepsMax) {
      this.patternSteps = steps;
      return true;
    }
    const message = 'The patterns up to here take too much to build.';
    this.add('expression_too_complex', expression, message, 'Repeat less in a pattern, or name fewer characters.');
    return false;
  }

  private struct(expression: Expression, scope: Scope): CelType {
    if (expression.exprKind.case !== 'structExpr') return ERROR;
    const { messageName, entries } = expression.exprKind.value;
    if (messageName !== '') {
      this.add('unsupported_expression', expression, 'Messages are not part of conditions.');
      return ERROR;
    }
    const keys = entries.map(({ keyKind }) => (keyKind.case === 'mapKey' ? keyKind.value : undefined));
    for (const key of keys) {
      if (key === undefined || isAssignable(STRING, this.typeOf(key, scope))) continue;
      this.add('type_mismatch', key, 'The keys of a map are strings here.');
    }
    return mapOf(
      this.joined(
        entries.map(({ value }) => required(value)),
        scope,
      ),
    );
  }

  /** The macros all, exists, exists_one, map and filter, as the parser wrote them out. */
  private comprehension(fold: Comprehension, scope: Scope): CelType {
    const range = required(fold.iterRange);
    const element = this.elementOf(range, this.typeOf(range, scope));
    const start = this.typeOf(required(fold.accuInit), scope);
    const inner = new Map([...scope, [fold.accuVar, start], [fold.iterVar, element]]);
    this.typeOf(required(fold.loopCondition), inner);
    const step = this.typeOf(required(fold.loopStep), inner);
    return this.typeOf(required(fold.result), new Map([...scope, [fold.accuVar, join(start, step)]]));
  }

  private elementOf(range: Expression, type: CelType): CelType {
    switch (type.kind) {
      case 'list':
        return type.element;
      case 'map':
        return STRING;
      case 'dyn':
      case 'error':
        return type;
      default:
        this.add('type_mismatch', range, `${capital(nameOf(type))} has no items to look at one by one.`);
        return ERROR;
    }
  }

  private add(code: PolicyDiagnosticCode, { id }: Expression, message: string, hint?: string): void {
    this.addAt(code, this.positionOf(id), message, hint);
  }

  private positionOf(id: bigint): number {
    return this.positions[String(id)] ?? 0;
  }

  private addAt(code: PolicyDiagnosticCode, offset: number, message: string, hint?: string): void {
    this.problems.push({ code, offset, message, ...(hint === undefined ? {} : { hint }) });
  }
}
