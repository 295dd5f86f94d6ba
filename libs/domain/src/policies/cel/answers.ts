import { type CelResult, isCelError } from '@bufbuild/cel';

import { EVALUATION_LIMIT } from './limits.js';

/** Why a condition has no answer. A closed list: texts of the evaluator may quote arguments, which no event may hold. */
export type EvaluationFault =
  | 'no such field'
  | 'no such item'
  | 'type mismatch'
  | 'number out of range'
  | 'division by zero'
  | 'not a bool'
  | 'too many items'
  | 'invalid value';

/** `missing_fact`: the call lacks a fact of its connector, named by its path. */
export type Answer = boolean | { readonly fault: EvaluationFault } | { readonly missingFact: string };

/** @param optionalReads ids of nodes that read a fact some calls lack, with its path */
export const answerOf = (result: CelResult, optionalReads: ReadonlyMap<bigint, string>): Answer => {
  if (typeof result === 'boolean') return result;
  if (!isCelError(result)) return { fault: 'not a bool' };
  const fault = faultOf(result.message);
  const missingFact = result.exprId === undefined ? undefined : optionalReads.get(result.exprId);
  return missingFact !== undefined && fault === 'no such field' ? { missingFact } : { fault };
};

const FAULTS: readonly (readonly [RegExp, EvaluationFault])[] = [
  [/^(field not found|unresolved attribute)/, 'no such field'],
  [/^index .* out of bounds/, 'no such item'],
  [/^(found no matching overload|type mismatch|unsupported key type)/, 'type mismatch'],
  [/(overflow|out of range)/, 'number out of range'],
  [/(divide|modulus) by zero/, 'division by zero'],
];

const faultOf = (message: string): EvaluationFault => {
  if (message.startsWith(EVALUATION_LIMIT)) return 'too many items';
  return FAULTS.find(([pattern]) => pattern.test(message))?.[1] ?? 'invalid value';
};
