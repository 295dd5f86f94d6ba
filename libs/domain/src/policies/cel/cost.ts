import type { Vocabulary } from './facts.js';
import { ITEMS_MAX, MATCHED_MAX_CHARACTERS } from './limits.js';
import { compilePattern } from './patterns.js';
import { fromCall, SCALAR, type Size, textSize } from './sizes.js';
import {
  type Call,
  type Comprehension,
  type Expression,
  literalText,
  type ParsedExpression,
  required,
} from './syntax-tree.js';

/** Steps a condition may take at most, as estimated here (rule POLICY-8). The same for a postcondition. */
export const COST_MAX = 100_000;

// A step is about 0.2 µs once the evaluator is warm, so that the most a condition may take is well within the 50 ms of an
// evaluation. A node of the tree takes two, a literal one; text is looked at much faster than that, for a pattern not as much.
const NODE_STEPS = 2;
const PARSED_TIME_STEPS = 20;
const CHARACTERS_PER_STEP = 500;
const MATCHED_CHARACTERS_PER_STEP = 10;
const PROGRAM_SIZE_PER_FACTOR = 100;
const COMPARED_CHARACTERS_PER_STEP = 50;
const SEARCHED_CHARACTERS_PER_STEP = 50;
const COMPARED_ITEMS_PER_STEP = 2;
const ITEMS_PER_STEP = 100;

interface Estimate {
  readonly cost: number;
  readonly size: Size;
}

type Scope = ReadonlyMap<string, Size>;

/**
 * An upper bound of the steps of one evaluation, whatever the arguments. A list of the call counts with the most items
 * that are looked through (`ITEMS_MAX`, enforced at run time); its items share the characters of the arguments, since
 * together they can have no more.
 */
export const estimateCost = (parsed: ParsedExpression, vocabulary: Vocabulary): number =>
  estimate(required(parsed.expr), new Map(Object.entries(vocabulary).map(([name, { size }]) => [name, size]))).cost;

const estimate = (expression: Expression, scope: Scope): Estimate => {
  const { exprKind } = expression;
  switch (exprKind.case) {
    case 'constExpr':
      return { cost: 1, size: textSize(literalText(expression)?.length ?? SCALAR.characters) };
    case 'identExpr':
      return { cost: NODE_STEPS, size: scope.get(exprKind.value.name) ?? SCALAR };
    case 'selectExpr': {
      const operand = estimate(required(exprKind.value.operand), scope);
      return { cost: operand.cost + NODE_STEPS, size: exprKind.value.testOnly ? SCALAR : operand.size };
    }
    case 'callExpr':
      return estimateCall(exprKind.value, scope);
    case 'listExpr':
      return collect(exprKind.value.elements, exprKind.value.elements.length, scope);
    case 'structExpr': {
      const { entries } = exprKind.value;
      const children = entries.flatMap(({ keyKind, value }) => [
        ...(keyKind.case === 'mapKey' ? [keyKind.value] : []),
        required(value),
      ]);
      return collect(children, entries.length, scope);
    }
    case 'comprehensionExpr':
      return estimateFold(exprKind.value, scope);
    case undefined:
      throw new Error('the syntax tree has a node of no kind');
  }
};

const collect = (children: readonly Expression[], items: number, scope: Scope): Estimate => {
  const estimates = children.map((child) => estimate(child, scope));
  const characters = sum(estimates.map(({ size }) => size.characters));
  return { cost: NODE_STEPS + sum(estimates.map(({ cost }) => cost)), size: { characters, items, isFromCall: false } };
};

const estimateCall = (call: Call, scope: Scope): Estimate => {
  const operands = [...(call.target === undefined ? [] : [call.target]), ...call.args];
  const estimates = operands.map((operand) => estimate(operand, scope));
  const sizes = estimates.map(({ size }) => size);
  const { steps, size } = stepsOf(call, sizes);
  return { cost: sum(estimates.map(({ cost }) => cost)) + NODE_STEPS + steps, size };
};

/** What the call itself takes beyond its node. */
const stepsOf = (call: Call, sizes: readonly Size[]): { steps: number; size: Size } => {
  const [first = SCALAR, second = SCALAR, third = SCALAR] = sizes;
  const characters = sum(sizes.map((size) => size.characters));
  switch (call.function) {
    case '_==_':
    case '_!=_':
    case '_<_':
    case '_<=_':
    case '_>_':
    case '_>=_': {
      // A value of the call against another may be two whole trees; against a literal, no more than the literal.
      const isDeep = first.isFromCall && second.isFromCall;
      const compared = Math.min(first.characters, second.characters);
      return { steps: compared / (isDeep ? COMPARED_CHARACTERS_PER_STEP : CHARACTERS_PER_STEP), size: SCALAR };
    }
    case '@in':
      return { steps: second.items / COMPARED_ITEMS_PER_STEP + second.characters / CHARACTERS_PER_STEP, size: SCALAR };
    case '_[_]':
      return { steps: 0, size: first };
    case '_?_:_':
      return { steps: 0, size: larger(second, third) };
    case '_&&_':
    case '_||_':
      return { steps: 0, size: SCALAR };
    case '_+_': {
      const items = Math.min(ITEMS_MAX, first.items + second.items);
      const size = { characters, items, isFromCall: first.isFromCall || second.isFromCall };
      return { steps: characters / CHARACTERS_PER_STEP + items / ITEMS_PER_STEP, size };
    }
    case 'matches':
      return { steps: matchSteps(first, literalText(call.args[0])), size: SCALAR };
    case 'contains':
      return { steps: characters / SEARCHED_CHARACTERS_PER_STEP, size: SCALAR };
    case 'size':
    case 'lowerAscii':
    case 'upperAscii':
      return { steps: (5 * characters) / CHARACTERS_PER_STEP, size: textSize(first.characters) };
    case 'timestamp':
    case 'duration':
      return { steps: PARSED_TIME_STEPS, size: SCALAR };
    case 'string':
      return { steps: 0, size: textSize(first.characters) };
    default:
      return { steps: characters / CHARACTERS_PER_STEP, size: SCALAR };
  }
};

const matchSteps = (text: Size, pattern: string | null): number => {
  const compiled = compilePattern(pattern ?? '');
  const programSize = 'fault' in compiled ? 0 : compiled.programSize();
  const characters = Math.min(text.characters, MATCHED_MAX_CHARACTERS);
  return (characters / MATCHED_CHARACTERS_PER_STEP) * Math.max(1, programSize / PROGRAM_SIZE_PER_FACTOR);
};

const estimateFold = (fold: Comprehension, scope: Scope): Estimate => {
  const range = estimate(required(fold.iterRange), scope);
  const start = estimate(required(fold.accuInit), scope);
  const times = range.size.isFromCall ? Math.max(1, range.size.items) : range.size.items;
  const share = range.size.characters / Math.max(1, times);
  const item: Size = range.size.isFromCall ? fromCall(share) : { ...range.size, characters: share };
  // Lists grow to the size of their range; the share of one step is what adding an item costs on average.
  const grown: Size = { ...range.size, characters: share };
  const inner = new Map([...scope, [fold.accuVar, grown], [fold.iterVar, item]]);
  const condition = estimate(required(fold.loopCondition), inner);
  const step = estimate(required(fold.loopStep), inner);
  const isList = required(fold.accuInit).exprKind.case === 'listExpr';
  const total: Size = { characters: step.size.characters * times, items: times, isFromCall: step.size.isFromCall };
  return {
    cost: range.cost + start.cost + times * (condition.cost + step.cost) + NODE_STEPS,
    size: isList ? total : SCALAR,
  };
};

const larger = (one: Size, other: Size): Size => ({
  characters: Math.max(one.characters, other.characters),
  items: Math.max(one.items, other.items),
  isFromCall: one.isFromCall || other.isFromCall,
});

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
