import { type CelResult, isCelError } from '@bufbuild/cel';

import { type AccessChains, brokenRead } from './access-chains.js';
import { EVALUATION_LIMIT } from './limits.js';
import type { Bindings } from './values.js';

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

/**
 * `path`: what the condition could not read, as it writes it; null where that is not known.
 * `missingFact`: the call lacks a fact of its connector, named by its path.
 */
export type Answer =
  boolean | { readonly fault: EvaluationFault; readonly path: string | null } | { readonly missingFact: string };

/** What the checker knows of a condition's reads, for the answer to one that failed. */
export interface KnownReads {
  /** Ids of nodes that read a fact some calls lack, with its path. */
  readonly optional: ReadonlyMap<bigint, string>;
  readonly chains: AccessChains;
}

export const answerOf = (result: CelResult, reads: KnownReads, bindings: Bindings): Answer => {
  if (typeof result === 'boolean') return result;
  if (!isCelError(result)) return { fault: 'not a bool', path: null };
  const fault = faultOf(result.message);
  if ((fault !== 'no such field' && fault !== 'no such item') || result.exprId === undefined) {
    return { fault, path: null };
  }
  const missingFact = reads.optional.get(result.exprId);
  if (missingFact !== undefined && fault === 'no such field') return { missingFact };
  const chain = reads.chains.get(result.exprId);
  const broken = chain === undefined ? null : brokenRead(chain, bindings);
  if (broken === null) return { fault, path: null };
  // The evaluator looks for a field or an item of whatever it is given, a text or a number too.
  return { fault: broken.isMissing ? fault : 'type mismatch', path: broken.path };
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
