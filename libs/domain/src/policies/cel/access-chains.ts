import { type CelInput, isCelList, isCelMap } from '@bufbuild/cel';

import { type Expression, required } from './syntax-tree.js';
import type { Bindings } from './values.js';

/** A fact by the names and indexes that a condition writes after it, such as `args`, then `lines`, then 0. */
export interface AccessChain {
  readonly root: string;
  readonly steps: readonly (string | bigint)[];
}

/** Reads by the id of a node: such an id is what the evaluator says of a read that failed. */
export type AccessChains = ReadonlyMap<bigint, AccessChain>;

/**
 * The reads of a condition that name a fact and then only literals. The id of an index is that of the name that the
 * whole chain begins with; a field has an id of its own. What stands in a macro is left out: it may read the macro's
 * variable, which is no fact.
 */
export const accessChainsOf = (root: Expression): AccessChains => {
  const chains = new Map<bigint, AccessChain>();
  collect(root, chains);
  return chains;
};

const collect = (expression: Expression, chains: Map<bigint, AccessChain>): void => {
  const found = chainOf(expression);
  if (found !== null && found.chain.steps.length > 0) {
    const { beginning, chain } = found;
    chains.set(expression.id, chain);
    // The longest chain over an index is met first, and walking it finds the step that fails.
    if (!chains.has(beginning)) chains.set(beginning, chain);
  }
  for (const child of childrenOf(expression)) collect(child, chains);
};

const childrenOf = ({ exprKind }: Expression): readonly Expression[] => {
  switch (exprKind.case) {
    case 'selectExpr':
      return [required(exprKind.value.operand)];
    case 'callExpr':
      return [...(exprKind.value.target === undefined ? [] : [exprKind.value.target]), ...exprKind.value.args];
    case 'listExpr':
      return exprKind.value.elements;
    case 'structExpr':
      return exprKind.value.entries.map(({ value }) => required(value));
    case 'comprehensionExpr':
      return [required(exprKind.value.iterRange)];
    default:
      return [];
  }
};

const chainOf = (expression: Expression): { beginning: bigint; chain: AccessChain } | null => {
  const { id, exprKind } = expression;
  if (exprKind.case === 'identExpr') return { beginning: id, chain: { root: exprKind.value.name, steps: [] } };
  const step = stepOf(expression);
  const before = step === null ? null : chainOf(step.of);
  if (step === null || before === null) return null;
  const { beginning, chain } = before;
  return { beginning, chain: { root: chain.root, steps: [...chain.steps, step.name] } };
};

const stepOf = ({ exprKind }: Expression): { of: Expression; name: string | bigint } | null => {
  if (exprKind.case === 'selectExpr') {
    const { operand, field, testOnly } = exprKind.value;
    // has() does not read the last field.
    return testOnly ? null : { of: required(operand), name: field };
  }
  if (exprKind.case !== 'callExpr' || exprKind.value.function !== '_[_]') return null;
  const [of, key] = exprKind.value.args.map(required);
  if (of === undefined || key?.exprKind.case !== 'constExpr') return null;
  const { constantKind } = key.exprKind.value;
  const isName = constantKind.case === 'stringValue' || constantKind.case === 'int64Value';
  return isName ? { of, name: constantKind.value } : null;
};

/**
 * Where a read of a call's facts ends: at a member that is not there, or at a value that has no members at all. Null when
 * all of it is there. `path` holds what the condition says, and nothing of the call.
 */
export const brokenRead = (
  { root, steps }: AccessChain,
  bindings: Bindings,
): { readonly path: string; readonly isMissing: boolean } | null => {
  let value: CelInput | undefined = bindings[root];
  let path = root;
  for (const step of steps) {
    if (!isCelMap(value) && !isCelList(value)) return { path, isMissing: false };
    if (isCelList(value) && typeof step === 'string') return { path, isMissing: false };
    path += writtenStep(step);
    value = isCelMap(value) ? value.get(step) : value.get(Number(step));
    if (value === undefined) return { path, isMissing: true };
  }
  return null;
};

const writtenStep = (step: string | bigint): string => {
  if (typeof step === 'bigint') return `[${step}]`;
  return /^[A-Za-z_]\w*$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
};
