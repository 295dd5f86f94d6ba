import type { Report } from './diagnostics.js';
import { coversGlob, type StepBudget } from './glob.js';
import type { RuleMatch, SourceRule } from './policy-source.js';

/**
 * Comparisons of one policy, in characters looked at and lists walked through: about 20 ms. Rules whose globs are alike
 * are compared each with each, so a text of a few hundred KiB could otherwise take minutes.
 */
export const REACHABILITY_STEPS_MAX = 1_000_000;

/**
 * Finds the rules that can never decide, because an earlier rule without a condition covers them whole: nobody meant to
 * write such a rule. This is a convenience, and no promise: past {@link REACHABILITY_STEPS_MAX} the rules that are left
 * are not looked at.
 */
export const checkReachable = (
  report: Report,
  rules: readonly SourceRule[],
  budget: StepBudget = { left: REACHABILITY_STEPS_MAX },
): void => {
  const earlier: { readonly id: string; readonly match: WideMatch }[] = [];
  for (const rule of rules) {
    const covering = earlier.find(({ match }) => budget.left > 0 && coversMatch(match, rule.match, budget));
    if (budget.left <= 0) return;
    if (covering !== undefined && covering.id !== rule.id) {
      const message = `The rule can never decide: every call it matches is decided by "${covering.id}" before it.`;
      report.about(rule.id).add('unreachable_rule', rule.idEntry.place, message);
    }
    if (rule.when === null) earlier.push({ id: rule.id, match: wideMatch(rule.match) });
  }
};

/** A list of globs, ready to be asked. A glob without a star covers itself alone. */
interface WideGlobs {
  readonly exact: ReadonlySet<string>;
  readonly starred: readonly string[];
}

interface WideMatch extends Omit<RuleMatch, 'tools' | 'agents'> {
  readonly tools: WideGlobs | null;
  readonly agents: WideGlobs | null;
}

const wideMatch = (match: RuleMatch): WideMatch => ({
  ...match,
  tools: wideGlobs(match.tools),
  agents: wideGlobs(match.agents),
});

/** Null where everything is covered. */
const wideGlobs = (globs: readonly string[] | null): WideGlobs | null =>
  globs === null || globs.includes('*')
    ? null
    : { exact: new Set(globs), starred: globs.filter((glob) => glob.includes('*')) };

/** Exact for one rule against one; several earlier rules that cover a later one only together are not found. */
const coversMatch = (wide: WideMatch, narrow: RuleMatch, budget: StepBudget): boolean => {
  budget.left -= 1;
  return (
    coversChoices(wide.mode, narrow.mode) &&
    coversChoices(wide.sideEffect, narrow.sideEffect) &&
    coversGlobs(wide.tools, narrow.tools, budget) &&
    coversGlobs(wide.agents, narrow.agents, budget) &&
    coversLabels(wide.labels, narrow.labels, budget)
  );
};

const coversGlobs = (wide: WideGlobs | null, narrow: readonly string[] | null, budget: StepBudget): boolean => {
  if (wide === null) return true;
  if (narrow === null) return false;
  return narrow.every((glob) => {
    budget.left -= 1;
    return wide.exact.has(glob) || wide.starred.some((wider) => budget.left > 0 && coversOne(wider, glob, budget));
  });
};

/** The usual difference is in how two globs begin: told without a copy of either. */
const coversOne = (wide: string, narrow: string, budget: StepBudget): boolean => {
  budget.left -= 1;
  const [first] = wide;
  return (first === '*' || first === narrow[0]) && coversGlob(wide, narrow, budget);
};

const coversLabels = (wide: RuleMatch['labels'], narrow: RuleMatch['labels'], budget: StepBudget): boolean =>
  wide === null ||
  Object.entries(wide).every(([key, glob]) => {
    const narrower = narrow !== null && Object.hasOwn(narrow, key) ? narrow[key] : undefined;
    if (narrower === undefined) return false;
    return glob === narrower || coversOne(glob, narrower, budget);
  });

const coversChoices = (wide: readonly string[] | null, narrow: readonly string[] | null): boolean =>
  wide === null || (narrow !== null && narrow.every((choice) => wide.includes(choice)));
