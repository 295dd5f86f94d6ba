import type { PolicyDiagnosticCode } from '../diagnostics.js';
import { didYouMean } from '../did-you-mean.js';
import { checkLiterals } from './check-literals.js';
import { NOT_HINT } from './operator-hints.js';
import { type Signature, SIGNATURES } from './signatures.js';
import { type Call, type Expression, pathOf } from './syntax-tree.js';
import { type CelType, ERROR, isAssignable, join, nameOf } from './types.js';

export interface CallFinding {
  readonly code: PolicyDiagnosticCode;
  /** Undefined for the call as a whole. */
  readonly at?: Expression | undefined;
  readonly message: string;
  readonly hint?: string;
}

export interface CheckedCall {
  readonly result: CelType;
  readonly findings: readonly CallFinding[];
}

/** Finds the ways to call a function that fit what is known of its arguments. */
export const checkFunction = (call: Call, types: readonly CelType[], target?: CelType): CheckedCall => {
  const { function: name } = call;
  const signatures = Object.hasOwn(SIGNATURES, name) ? SIGNATURES[name] : undefined;
  if (signatures === undefined) return { result: ERROR, findings: [unknownFunction(name)] };
  const fitting = signatures.filter((signature) => isFitting(signature, types, target));
  if (fitting.length === 0) {
    const misused = misuseOf(call, signatures, target);
    if (misused !== null) return { result: ERROR, findings: [misused] };
    const index = argumentAtFault(signatures, types, target);
    const given = index === -1 ? types : types.slice(index, index + 1);
    return { result: ERROR, findings: [{ ...mismatch(name, given, target), at: call.args[index] }] };
  }
  return {
    result: fitting.map(({ result }) => result).reduce(join),
    findings: [...checkNumbers(name, types), ...checkLiterals(call)],
  };
};

const isFitting = (signature: Signature, types: readonly CelType[], target: CelType | undefined): boolean =>
  isTargetFitting(signature, target) &&
  signature.args.length === types.length &&
  signature.args.every((wanted, index) => isAssignable(wanted, types[index] ?? ERROR));

const isTargetFitting = (signature: Signature, target: CelType | undefined): boolean =>
  signature.target === undefined || target === undefined
    ? signature.target === target
    : isAssignable(signature.target, target);

/** The argument that no way to call the function takes in its place; -1 where each could be the one at fault. */
const argumentAtFault = (
  signatures: readonly Signature[],
  types: readonly CelType[],
  target: CelType | undefined,
): number => {
  const near = signatures.filter(
    (signature) => signature.args.length === types.length && isTargetFitting(signature, target),
  );
  const isTaken = (given: CelType, index: number): boolean =>
    near.some((signature) => isAssignable(signature.args[index] ?? ERROR, given));
  return near.length === 0 ? -1 : types.findIndex((given, index) => !isTaken(given, index));
};

/**
 * What is wrong before the types of the arguments matter: where the function stands, what it is called on, how many
 * arguments it takes.
 */
const misuseOf = (call: Call, signatures: readonly Signature[], target: CelType | undefined): CallFinding | null => {
  const { function: name, args } = call;
  const alike = signatures.filter((signature) => (signature.target === undefined) === (target === undefined));
  if (alike.length === 0) return target === undefined ? notOfAValue(name, args[0]) : ofAValue(name, call.target);
  const near = alike.filter((signature) => isTargetFitting(signature, target));
  if (target !== undefined && near.length === 0) {
    return { code: 'type_mismatch', message: `${name}() cannot be asked of ${nameOf(target)}.` };
  }
  const counts = [...new Set(near.map((signature) => signature.args.length))];
  if (counts.includes(args.length)) return null;
  const message = `${name}() takes ${counts.map(argumentCount).join(' or ')} here, not ${args.length}.`;
  return { code: 'type_mismatch', message, hint: 'Write as many as the function takes.' };
};

const argumentCount = (count: number): string =>
  count === 0 ? 'no argument' : `${count} argument${count === 1 ? '' : 's'}`;

const notOfAValue = (name: string, first: Expression | undefined): CallFinding => ({
  code: 'type_mismatch',
  message: `${name}() is asked of a value that stands before it, with a dot between them.`,
  hint: `Write it as in ${exampleOf(first)}.${name}(...).`,
});

const ofAValue = (name: string, target: Expression | undefined): CallFinding => ({
  code: 'type_mismatch',
  message: `${name}() takes its value in the brackets, not before a dot.`,
  hint: `Write it as in ${name}(${exampleOf(target)}).`,
});

const exampleOf = (value: Expression | undefined): string =>
  (value === undefined ? null : pathOf(value)) ?? 'args.note';

const ARITHMETIC: ReadonlySet<string> = new Set(['_+_', '_-_', '_*_', '_/_']);

/** An argument is an int or a double as the agent writes it, and CEL does not mix the two. */
const checkNumbers = (name: string, types: readonly CelType[]): readonly CallFinding[] => {
  const kinds = types.map(({ kind }) => kind);
  if (!ARITHMETIC.has(name) || !kinds.includes('dyn') || !kinds.includes('double')) return [];
  const message = `"${operatorOf(name) ?? name}" does not take an int and a double; a number without a fraction is an int.`;
  return [{ code: 'mixed_numbers', message }];
};

/** The macros, which the parser writes out itself when they are used as they should be. */
export const MACRO_USES: Readonly<Record<string, string>> = {
  has: 'has(args.note)',
  all: 'args.items.all(item, item.price < 100)',
  exists: 'args.items.exists(item, item.price < 100)',
  exists_one: 'args.items.exists_one(item, item.price < 100)',
  filter: 'args.items.filter(item, item.price < 100)',
  map: 'args.items.map(item, item.price)',
};

const unknownFunction = (name: string): CallFinding => {
  const use = Object.hasOwn(MACRO_USES, name) ? MACRO_USES[name] : undefined;
  if (use !== undefined) {
    return { code: 'unknown_function', message: `${name}() is not used like this.`, hint: `Write it as in ${use}.` };
  }
  if (name.toLowerCase() === 'not') {
    return { code: 'unknown_function', message: `There is no function "${name}".`, hint: NOT_HINT };
  }
  const known = Object.keys(SIGNATURES).filter((one) => /^[a-z]/.test(one));
  const hint = didYouMean(name, [...known, ...Object.keys(MACRO_USES)]);
  return { code: 'unknown_function', message: `There is no function "${name}".`, hint };
};

const mismatch = (name: string, types: readonly CelType[], target: CelType | undefined): CallFinding => {
  const given = types.map(nameOf).join(' and ');
  const operator = operatorOf(name);
  if (operator !== undefined) return { code: 'type_mismatch', message: `"${operator}" does not take ${given}.` };
  const on = target === undefined ? '' : ` of ${nameOf(target)}`;
  return { code: 'type_mismatch', message: `${name}()${on} does not take ${given}.` };
};

/** `<=` for `_<=_`; undefined for a function with a name. */
export const operatorOf = (name: string): string | undefined => /^_?(.+?)_$/.exec(name)?.[1];
