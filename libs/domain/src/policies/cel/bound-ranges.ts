import { BOUNDED, COLLECTED } from './environment.js';
import { type Comprehension, type Expression, required } from './syntax-tree.js';

/**
 * The tree as it is evaluated. Every list or map that is looked through passes a check of its size first, which the
 * estimate of the cost relies on. What `map` and `filter` collect grows in place: the package would chain a list for
 * every item, and reading the last chain would take the square of the items.
 */
export const boundRanges = (expression: Expression): Expression => {
  const { exprKind } = expression;
  switch (exprKind.case) {
    case 'selectExpr': {
      const operand = boundRanges(required(exprKind.value.operand));
      return { ...expression, exprKind: { case: 'selectExpr', value: { ...exprKind.value, operand } } };
    }
    case 'callExpr': {
      const { target, args } = exprKind.value;
      const bounded = { ...exprKind.value, args: args.map(boundRanges) };
      const value = target === undefined ? bounded : { ...bounded, target: boundRanges(target) };
      return { ...expression, exprKind: { case: 'callExpr', value } };
    }
    case 'listExpr': {
      const elements = exprKind.value.elements.map(boundRanges);
      return { ...expression, exprKind: { case: 'listExpr', value: { ...exprKind.value, elements } } };
    }
    case 'structExpr': {
      const entries = exprKind.value.entries.map((entry) => ({
        ...entry,
        ...(entry.keyKind.case === 'mapKey'
          ? { keyKind: { case: 'mapKey' as const, value: boundRanges(entry.keyKind.value) } }
          : {}),
        value: boundRanges(required(entry.value)),
      }));
      return { ...expression, exprKind: { case: 'structExpr', value: { ...exprKind.value, entries } } };
    }
    case 'comprehensionExpr': {
      const fold = exprKind.value;
      const iterRange = call(BOUNDED, required(fold.iterRange).id, [boundRanges(required(fold.iterRange))]);
      const loopCondition = boundRanges(required(fold.loopCondition));
      const loopStep = boundStep(fold, required(fold.loopStep));
      const value = { ...fold, iterRange, loopCondition, loopStep };
      return { ...expression, exprKind: { case: 'comprehensionExpr', value } };
    }
    default:
      return expression;
  }
};

/** `@result + [item]`, alone or as the first branch of a condition, is what the macros write for a list. */
const boundStep = (fold: Comprehension, step: Expression): Expression => {
  const { exprKind } = step;
  if (exprKind.case !== 'callExpr') return boundRanges(step);
  const [first, second, third] = exprKind.value.args;
  if (exprKind.value.function === '_?_:_') {
    const args = [boundRanges(required(first)), boundStep(fold, required(second)), boundRanges(required(third))];
    return { ...step, exprKind: { case: 'callExpr', value: { ...exprKind.value, args } } };
  }
  const item = second?.exprKind.case === 'listExpr' ? second.exprKind.value.elements[0] : undefined;
  const isCollecting = first?.exprKind.case === 'identExpr' && first.exprKind.value.name === fold.accuVar;
  if (exprKind.value.function !== '_+_' || !isCollecting || item === undefined) return boundRanges(step);
  return call(COLLECTED, step.id, [first, boundRanges(item)]);
};

const call = (name: string, id: bigint, args: Expression[]): Expression => ({
  $typeName: 'cel.expr.Expr',
  id,
  exprKind: { case: 'callExpr', value: { $typeName: 'cel.expr.Expr.Call', function: name, args } },
});
