import type { Report } from './diagnostics.js';
import { coversGlob } from './glob.js';
import type { RuleMatch, SourceRule } from './policy-source.js';

/** A rule that an earlier one without a condition covers whole can never decide: nobody meant to write it. */
export const checkReachable = (report: Report, rules: readonly SourceRule[]): void => {
  rules.forEach((rule, index) => {
    const earlier = rules.slice(0, index).find(({ when, match }) => when === null && coversMatch(match, rule.match));
    if (earlier === undefined || earlier.id === rule.id) return;
    const message = `The rule can never decide: every call it matches is decided by "${earlier.id}" before it.`;
    report.about(rule.id).add('unreachable_rule', rule.idEntry.place, message);
  });
};

/** Exact for one rule against one; several earlier rules that cover a later one only together are not found. */
const coversMatch = (wide: RuleMatch, narrow: RuleMatch): boolean =>
  coversGlobs(wide.tools, narrow.tools) &&
  coversGlobs(wide.agents, narrow.agents) &&
  coversLabels(wide.labels, narrow.labels) &&
  coversChoices(wide.mode, narrow.mode) &&
  coversChoices(wide.sideEffect, narrow.sideEffect);

const coversGlobs = (wide: readonly string[] | null, narrow: readonly string[] | null): boolean => {
  if (wide === null || wide.includes('*')) return true;
  return narrow !== null && narrow.every((glob) => wide.some((wider) => coversGlob(wider, glob)));
};

const coversLabels = (wide: RuleMatch['labels'], narrow: RuleMatch['labels']): boolean =>
  wide === null ||
  Object.entries(wide).every(([key, glob]) => {
    const narrower = narrow !== null && Object.hasOwn(narrow, key) ? narrow[key] : undefined;
    return narrower !== undefined && coversGlob(glob, narrower);
  });

const coversChoices = (wide: readonly string[] | null, narrow: readonly string[] | null): boolean =>
  wide === null || (narrow !== null && narrow.every((choice) => wide.includes(choice)));
