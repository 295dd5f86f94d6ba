import { isScalar } from 'yaml';
import { closestName, Turns } from '../kernel/index.js';
import { checkExpression } from './cel/compile-expression.js';
import type { Problem } from './cel/check-types.js';
import { FACTS, type Vocabulary } from './cel/facts.js';
import { DYN, type Field } from './cel/types.js';
import { checkSource } from './check-source.js';
import { argumentsOf, type DeclaredTool } from './declared-tools.js';
import { Diagnostics, type PolicyDiagnostic, type PolicyDiagnosticCode, Report } from './diagnostics.js';
import { coversTool } from './evaluate-policy.js';
import { matchesGlob } from './glob.js';
import type { RuleMatch, SourceBudget, SourceRule } from './policy-source.js';
import { readPolicy } from './read-policy.js';
import type { SourceText } from './source-text.js';
import { type Entry, parseYaml, sourceOffset } from './yaml-nodes.js';

const turns = new Turns();

/**
 * What the organization's tools, as they are now, say of a policy that may be saved: arguments that no tool has, that a
 * call may lack, that are of another type or never have that value, and rules about tools that there are not. Warnings
 * all of them: tools come and go, and a version stays what it is. In the order of the text; none for a source with errors.
 */
export const checkToolsInTurns = async (
  text: string,
  tools: readonly DeclaredTool[],
): Promise<readonly PolicyDiagnostic[]> => {
  const { source, diagnostics } = checkSource(text);
  if (diagnostics.hasErrors) return [];
  const pieces = parseYaml(source, diagnostics);
  let piece = pieces.next();
  while (piece.done !== true) {
    await turns.next();
    piece = pieces.next();
  }
  const policy = piece.value === undefined ? null : readPolicy(new Report(diagnostics), piece.value);
  if (policy === null || diagnostics.hasErrors) return [];
  const found = new Diagnostics(source);
  const report = new Report(found);
  for (const rule of policy.rules) {
    await turns.next();
    checkRule(report.about(rule.id), source, rule, tools);
  }
  for (const budget of policy.budgets) checkBudget(report, budget, tools);
  return found.list();
};

const checkRule = (report: Report, source: SourceText, rule: SourceRule, tools: readonly DeclaredTool[]): void => {
  if (isOfEdge(rule.match)) return;
  checkNames(report, { what: 'rule', ...rule }, tools);
  const covered = tools.filter((tool) => covers(rule.match, tool));
  if (covered.length === 0 || rule.when === null) return;
  const declared = argumentsOf(covered);
  if (declared === null) return;
  const { text, entry } = rule.when;
  const scalar = isScalar(entry.node) ? entry.node : null;
  for (const { code, offset, message, hint } of problemsWith(text, declared)) {
    const at = scalar === null ? entry.place.offset : sourceOffset(source, scalar, text, offset);
    report.add(code, { offset: at, path: entry.place.path }, message, hint);
  }
};

/** A budget that takes no call, or counts money that no call names, holds nothing back: whoever set it should know. */
const checkBudget = (
  report: Report,
  { budget: { id, match, maxSpend }, idEntry, spendEntry }: SourceBudget,
  tools: readonly DeclaredTool[],
): void => {
  if (isOfEdge(match)) return;
  checkNames(report, { what: 'budget', id, idEntry, match }, tools);
  if (maxSpend === null || spendEntry === null) return;
  if (tools.some((tool) => tool.namesCost && covers(match, tool))) return;
  const message = `No tool that the budget "${id}" is about says what a call spends, so its max_spend holds nothing back.`;
  report.add('spend_never_charged', spendEntry.keyPlace, message);
};

/** Tools at an edge are known to the agent alone. */
const isOfEdge = ({ mode }: RuleMatch): boolean => mode !== null && !mode.includes('gateway');

const covers = (match: RuleMatch, tool: DeclaredTool): boolean =>
  coversTool(match, tool.name) &&
  (match.sideEffect?.some((one) => one === tool.sideEffect || tool.callsMayBe?.includes(one)) ?? true);

/** What names tools: a rule or a budget. */
interface Naming {
  readonly what: 'rule' | 'budget';
  readonly id: string;
  readonly idEntry: Entry;
  readonly match: RuleMatch;
}

const checkNames = (report: Report, { what, id, idEntry, match }: Naming, tools: readonly DeclaredTool[]): void => {
  if (match.tools === null) return;
  const names = tools.map(({ name }) => name);
  const unmatched = match.tools.filter((glob) => !names.some((name) => matchesGlob(glob, name)));
  if (unmatched.length === match.tools.length) {
    const message = `The ${what} "${id}" is about tools that no connector has: ${listed(unmatched)}.`;
    report.add('no_such_tool', idEntry.place, message, meant(unmatched, names));
    return;
  }
  const misspelt = unmatched.filter((glob) => !glob.includes('*'));
  if (misspelt.length > 0) {
    const message = `No connector has ${listed(misspelt)}, which the ${what} "${id}" names.`;
    report.add('no_such_tool', idEntry.place, message, meant(misspelt, names));
  } else if (!tools.some((tool) => covers(match, tool))) {
    const message = `No tool that the ${what} "${id}" names has the side effect ${(match.sideEffect ?? []).join(', ')}.`;
    report.add('no_such_tool', idEntry.place, message, 'GET /v1/tools shows the side effect of every tool.');
  }
};

const LISTED_MAX = 3;

const listed = (globs: readonly string[]): string => {
  const others = globs.length - LISTED_MAX;
  const first = globs.slice(0, LISTED_MAX).join(', ');
  return others > 0 ? `${first} and ${others} more` : first;
};

const meant = (globs: readonly string[], names: readonly string[]): string | undefined => {
  const closest = globs.map((glob) => closestName(glob, names)).find((name) => name !== null);
  return closest === undefined ? undefined : `Did you mean ${closest}? GET /v1/tools lists the tools.`;
};

interface ToolProblem extends Pick<Problem, 'offset' | 'message'> {
  readonly code: PolicyDiagnosticCode;
  readonly hint?: string;
}

/** How a finding of the checker is told where the declaration of a tool brought it about. */
const TOLD_AS: Readonly<Partial<Record<PolicyDiagnosticCode, PolicyDiagnosticCode>>> = {
  unknown_argument: 'unknown_argument',
  optional_argument: 'optional_argument',
  type_mismatch: 'argument_type',
  not_boolean: 'argument_type',
  never_equal: 'argument_value',
};

/** What the checker finds by these arguments and not without them. */
const problemsWith = (text: string, members: Readonly<Record<string, Field>>): readonly ToolProblem[] => {
  const args = { ...(FACTS['args'] as Vocabulary[string]), type: { kind: 'map', value: DYN, members } as const };
  const before = new Set(checkExpression(text, FACTS).map(keyOf));
  return checkExpression(text, { ...FACTS, args })
    .filter((problem) => !before.has(keyOf(problem)))
    .flatMap(({ code, offset, message, hint }) => {
      const told = TOLD_AS[code];
      // The checker's own hint for a type is about facts in general.
      const kept = told === 'argument_type' || hint === undefined ? {} : { hint };
      return told === undefined ? [] : [{ code: told, offset, message, ...kept }];
    });
};

const keyOf = ({ code, offset, message }: Problem): string => `${code} ${offset} ${message}`;
