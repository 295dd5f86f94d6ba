import { canonicalize, type JsonObject, type JsonValue } from '#libs/crypto';

import { holdsPostcondition } from '../../policies/index.js';
import { REDACTED } from '../redacted.js';
import type { ComparedValues, ReadBackTerms, ReadBackVerdict } from '../read-back.js';
import { templateOf, valueAt } from './read-back-paths.js';
import type { ReadBack, RestTool } from './rest-config.js';

/** A tool that has a read-back. */
export type ConfirmedTool = RestTool & { readonly readback: ReadBack };

export const isConfirmed = (tool: RestTool): tool is ConfirmedTool => tool.readback !== undefined;

/** Null for a tool that confirms nothing. */
export const readBackTermsOf = (tool: RestTool): ReadBackTerms | null => {
  if (!isConfirmed(tool)) return null;
  const { tool: target, attempts, interval_ms: intervalMs } = tool.readback;
  return { tool: target, attempts, intervalMs, sentence: sentenceOf(tool) };
};

const sentenceOf = ({ readback, postcondition }: ConfirmedTool): string => {
  const paths = Object.keys(readback.expect ?? {});
  const compared = paths.length === 0 ? [] : [`compares ${paths.join(', ')}`];
  const judged = postcondition === undefined ? [] : ['asks the postcondition'];
  const checks = [...compared, ...judged].join(' and ') || 'looks whether it is found';
  return `Reads ${readback.tool} and ${checks}.`;
};

/** What is read, and what is expected of it. */
export interface ReadBackPlan {
  readonly args: JsonObject;
  readonly expected: JsonObject;
}

/** What a template of the read needs and does not find. */
type MissingPart = 'argument_left_out' | 'result_missing';

/**
 * The read that confirms a call, or what keeps it from being built. A read by fewer arguments than the config names would
 * read something else. In `expect`, a template of an argument that the call does not have is left out: of what the call
 * does not say, nothing is expected. A part of the result that was redacted is missing: the mark in its place is not what
 * the upstream answered.
 * @param result what the write answered; null where its outcome is not known
 */
export const planReadBack = (
  { args: given = {}, expect = {} }: ReadBack,
  args: JsonObject,
  result: JsonObject | null,
): ReadBackPlan | MissingPart => {
  const body = result?.['body'] ?? null;
  const [read, compared] = [given, expect].map((values) =>
    Object.entries(values).map(([name, value]): Member => [name, filledIn(value, args, body)]),
  ) as [Member[], Member[]];
  if (read.some(([, { missing }]) => missing === 'argument_left_out')) return 'argument_left_out';
  if ([...read, ...compared].some(([, { missing }]) => missing === 'result_missing')) return 'result_missing';
  return { args: withValues(read), expected: withValues(compared) };
};

type Member = readonly [name: string, filled: FilledIn];

interface FilledIn {
  readonly value: JsonValue | undefined;
  /** Null where the value is there. */
  readonly missing: MissingPart | null;
}

const filledIn = (value: JsonValue, args: JsonObject, body: JsonValue): FilledIn => {
  const template = templateOf(value);
  if (template === null) return { value, missing: null };
  if (template.root === 'args') {
    const found = valueAt(args, template.path);
    return { value: found, missing: found === undefined ? 'argument_left_out' : null };
  }
  const found = valueAt(body, template.path);
  return { value: found, missing: found === undefined || isRedacted(found) ? 'result_missing' : null };
};

const isRedacted = (value: JsonValue): boolean => canonicalize(value).includes(REDACTED);

const withValues = (members: readonly Member[]): JsonObject =>
  Object.fromEntries(
    members.flatMap(([name, { value }]): [string, JsonValue][] => (value === undefined ? [] : [[name, value]])),
  );

/** The name of the postcondition among paths and reasons. */
const POSTCONDITION = 'postcondition';

/**
 * Every expected path equal and the postcondition true is VERIFIED, one unequal or false is MISMATCH (rule EXEC-8).
 * Where the config expects something, being found is not enough: an agent that leaves out all arguments it is compared
 * with does not get its call verified by that.
 * @param answer of the read tool, `{status, headers, body}`
 * @param isWhole false where its body is kept by digest, or as the text of JSON: no member of it can be compared
 */
export const judgeAnswer = (
  { readback, postcondition }: ConfirmedTool,
  { expected }: ReadBackPlan,
  args: JsonObject,
  { answer, isWhole }: { readonly answer: JsonObject; readonly isWhole: boolean },
): ReadBackVerdict & ComparedValues => {
  const hasChecks = Object.keys(expected).length > 0 || postcondition !== undefined;
  const isToCompare = Object.keys(readback.expect ?? {}).length > 0;
  if (isToCompare && !hasChecks) return notCompared('UNVERIFIABLE', 'nothing_compared', expected);
  if (hasChecks && !isWhole) return notCompared('UNVERIFIABLE', 'answer_not_kept', expected);
  const holds = postcondition === undefined ? true : holdsPostcondition(postcondition, { args, observation: answer });
  const compared = withPostcondition(comparedPaths(expected, answer), postcondition === undefined ? undefined : holds);
  if (compared.differs.length > 0) return { verdict: 'MISMATCH', reasons: compared.differs, ...compared };
  if (holds === null) return { verdict: 'UNVERIFIABLE', reasons: ['postcondition_unanswered'], ...compared };
  return { verdict: 'VERIFIED', reasons: [], ...compared };
};

/** What a read says that found nothing, or did not come to an answer. */
export const judgeFailure = (
  { readback }: ConfirmedTool,
  { expected }: ReadBackPlan,
  errorCode: string,
): ReadBackVerdict & ComparedValues => {
  if (errorCode !== 'upstream_not_found') return notCompared('UNVERIFIABLE', errorCode, expected);
  return notCompared(readback.on_not_found === 'violation' ? 'MISMATCH' : 'UNVERIFIABLE', 'not_found', expected);
};

const notCompared = (
  verdict: ReadBackVerdict['verdict'],
  reason: string,
  expected: JsonObject,
): ReadBackVerdict & ComparedValues => ({ verdict, reasons: [reason], expected, observed: {}, differs: [] });

/** Exact: of the same type and value, whatever the order of members. */
const comparedPaths = (expected: JsonObject, answer: JsonObject): ComparedValues => {
  const seen = Object.keys(expected).map((path) => [path, valueAt(answer, `.${path}`)] as const);
  const observed = seen.flatMap(([path, value]): [string, JsonValue][] => (value === undefined ? [] : [[path, value]]));
  const differs = seen
    .filter(([path, value]) => value === undefined || canonicalize(value) !== canonicalize(expected[path] as JsonValue))
    .map(([path]) => path);
  return { expected, observed: Object.fromEntries(observed), differs };
};

const withPostcondition = (compared: ComparedValues, holds: boolean | null | undefined): ComparedValues => {
  if (holds === undefined) return compared;
  const { expected, observed, differs } = compared;
  return {
    expected: { ...expected, [POSTCONDITION]: true },
    observed: holds === null ? observed : { ...observed, [POSTCONDITION]: holds },
    differs: holds === false ? [...differs, POSTCONDITION] : differs,
  };
};
