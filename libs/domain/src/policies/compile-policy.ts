import { digestOf, digestOfJson, type JsonObject, type JsonValue } from '#libs/crypto';
import { isScalar } from 'yaml';

import { isPlainText, Turns } from '../kernel/index.js';
import { type CompiledExpression, compileExpression, type ExpressionResult } from './cel/compile-expression.js';
import { FACTS } from './cel/facts.js';
import { scanExpression } from './cel/expression-text.js';
import { EXPRESSION_PATTERN_STEPS_MAX } from './cel/patterns.js';
import { checkSource } from './check-source.js';
import type { CompiledRule, CompileResult } from './compiled-policy.js';
import { Report } from './diagnostics.js';
import type { PolicyBudget, RequiredApproval, RuleMatch, SourcePolicy, SourceRule } from './policy-source.js';
import { checkReachable } from './reachability.js';
import { LANGUAGE_VERSION, readPolicy } from './read-policy.js';
import type { SourceText } from './source-text.js';
import { parseYaml, sourceOffset } from './yaml-nodes.js';

/** Names, values and operators in the conditions of one policy together: what keeps a save below a fifth of a second. */
export const POLICY_EXPRESSION_TOKENS_MAX = 10_000;

/** All patterns of one policy together, as `patternSteps` counts them: about 60 ms. */
const POLICY_PATTERN_STEPS_MAX = 30_000;

/**
 * Checks a source completely and makes it ready to decide. Whatever is wrong is a diagnostic with its place; nothing is
 * left for run time but what depends on a call. Never throws for a source. The same source gives the same answer in
 * every process of one build.
 */
export const compilePolicy = (text: string): CompileResult => {
  const pieces = compileInPieces(text);
  for (;;) {
    const piece = pieces.next();
    if (piece.done === true) return piece.value;
  }
};

const turns = new Turns();

/**
 * The same, a piece at a time: for a process that answers requests meanwhile.
 * @param as `stored`: it was taken once, so what is refused only of new ones is let through
 */
export const compilePolicyInTurns = async (text: string, as: 'new' | 'stored' = 'new'): Promise<CompileResult> => {
  const pieces = compileInPieces(text, as);
  for (;;) {
    await turns.next();
    const piece = pieces.next();
    if (piece.done === true) return piece.value;
  }
};

// A condition is weighed by its tokens and by its characters, which the parser reads one by one; a piece is about 20 ms.
const PIECE_WEIGHT = 500;
const CHARACTERS_PER_WEIGHT = 20;

/** Escapes of a double-quoted text are the one way for a control character into what people read of a rule. */
const checkTexts = (report: Report, { id, idEntry, message, description }: SourceRule): void => {
  for (const [field, text] of Object.entries({ message, description })) {
    if (text === null || isPlainText(text)) continue;
    const finding = `The ${field} of the rule "${id}" holds a control character other than tabs and line breaks.`;
    report.about(id).add('invalid_value', idEntry.place, finding, 'Remove the character from the text.');
  }
};

function* compileInPieces(text: string, as: 'new' | 'stored' = 'new'): Generator<void, CompileResult> {
  const { source, diagnostics } = checkSource(text);
  if (diagnostics.hasErrors) return { ok: false, diagnostics: diagnostics.list() };
  yield;
  const root = yield* parseYaml(source, diagnostics);
  yield;
  const report = new Report(diagnostics);
  const policy = root === undefined ? null : readPolicy(report, root);
  if (as === 'new') policy?.rules.forEach((rule) => checkTexts(report, rule));
  yield;
  const rules = policy === null ? [] : yield* compileRules(report, source, policy.rules);
  if (policy === null || diagnostics.hasErrors) return { ok: false, diagnostics: diagnostics.list() };
  const budgets = policy.budgets.map(({ budget }) => budget);
  const normalised = normalise(policy);
  return {
    ok: true,
    policy: {
      defaultOutcome: policy.defaultOutcome,
      rules,
      budgets,
      cost: costOf(rules, budgets),
      normalised,
      versionHash: digestOfJson(normalised),
      sourceHash: digestOf(text),
    },
    warnings: diagnostics.list(),
  };
}

function* compileRules(
  report: Report,
  source: SourceText,
  rules: readonly SourceRule[],
): Generator<void, readonly CompiledRule[]> {
  checkReachable(report, rules);
  yield;
  const compiler = new ConditionCompiler(source);
  const compiled: CompiledRule[] = [];
  for (const rule of rules) {
    const { id, match, decision, message, verify, approval } = rule;
    const when = rule.when === null ? null : compiler.compile(report.about(id), rule.when);
    compiled.push({ id, match, when, decision, message, verify, approval });
    if (compiler.endsPiece()) yield;
  }
  return compiled;
}

class ConditionCompiler {
  private tokens = 0;
  private patternSteps = 0;
  /** Since others had their turn. */
  private weight = 0;
  /** Conditions are often the same in several rules. */
  private readonly compiled = new Map<string, ExpressionResult>();

  constructor(private readonly source: SourceText) {}

  compile(report: Report, { text, entry }: NonNullable<SourceRule['when']>): CompiledExpression | null {
    const known = this.compiled.get(text);
    const { tokens } = scanExpression(text);
    this.weight += tokens + text.length / CHARACTERS_PER_WEIGHT;
    if (known === undefined) this.tokens += tokens;
    if (this.tokens > POLICY_EXPRESSION_TOKENS_MAX) {
      const message = `The conditions up to here have more than ${POLICY_EXPRESSION_TOKENS_MAX} names, values and operators.`;
      report.add('expression_too_complex', entry.place, message, 'Split the policy, or let rules share conditions.');
      return null;
    }
    const { expression, problems } = known ?? this.compileNew(text);
    for (const { code, offset, message, hint } of problems) {
      const scalar = isScalar(entry.node) ? entry.node : null;
      const at = scalar === null ? entry.place.offset : sourceOffset(this.source, scalar, text, offset);
      report.add(code, { offset: at, path: entry.place.path }, message, hint);
    }
    return expression;
  }

  /** Whether so much was compiled since the last time that others should have their turn. */
  endsPiece(): boolean {
    if (this.weight < PIECE_WEIGHT) return false;
    this.weight = 0;
    return true;
  }

  private compileNew(text: string): ExpressionResult {
    const left = POLICY_PATTERN_STEPS_MAX - this.patternSteps;
    const result = compileExpression(text, FACTS, Math.min(left, EXPRESSION_PATTERN_STEPS_MAX));
    // What patterns took weighs as much: a step of theirs is about a twentieth of a token.
    this.weight += result.patternSteps / CHARACTERS_PER_WEIGHT;
    this.patternSteps += result.patternSteps;
    this.compiled.set(text, result);
    return result;
  }
}

const RULE_STEPS = 5;
const GLOB_STEPS = 2;
/** More than one star makes a glob go back over the text. */
const STARRED_GLOB_STEPS = 50;

const costOf = (rules: readonly CompiledRule[], budgets: readonly PolicyBudget[]): number =>
  rules.reduce((cost, { match, when }) => cost + RULE_STEPS + matchCost(match) + (when?.cost ?? 0), 0) +
  budgets.reduce((cost, { match }) => cost + RULE_STEPS + matchCost(match), 0);

const matchCost = ({ tools, agents, labels }: CompiledRule['match']): number =>
  [...(tools ?? []), ...(agents ?? []), ...Object.values(labels ?? {})].reduce(
    (cost, glob) => cost + (glob.indexOf('*') === glob.lastIndexOf('*') ? GLOB_STEPS : STARRED_GLOB_STEPS),
    0,
  );

const normalise = ({ defaultOutcome, rules, budgets }: SourcePolicy): JsonObject => ({
  version: LANGUAGE_VERSION,
  default: defaultOutcome,
  rules: rules.map(normaliseRule),
  budgets: budgets.map(({ budget }) => normaliseBudget(budget)),
});

/** A member that is absent means the same as one the rule does not have: so a later field changes no old hash. */
const normaliseRule = ({ id, description, match, when, decision, message, verify, approval }: SourceRule): JsonObject =>
  present({
    id,
    description,
    match: normaliseMatch(match),
    when: when === null ? null : when.text.trim(),
    decision,
    message,
    verify,
    approval: approval === null ? null : normaliseApproval(approval),
  });

const normaliseBudget = ({ id, match, period, maxCalls, maxSpend }: PolicyBudget): JsonObject =>
  present({
    id,
    match: normaliseMatch(match),
    period,
    max_calls: maxCalls,
    max_spend: maxSpend === null ? null : { ...maxSpend },
  });

const normaliseMatch = (match: RuleMatch): JsonObject =>
  present({
    tools: listed(match.tools),
    agents: listed(match.agents),
    labels: match.labels === null ? null : { ...match.labels },
    mode: listed(match.mode),
    side_effect: listed(match.sideEffect),
  });

/** With what the rule leaves out: terms that are written and the same ones by default are one version in meaning. */
const normaliseApproval = ({ approvers, required, expiresInS, signed }: RequiredApproval): JsonObject =>
  present({ approvers: [...approvers], required, expires_in_s: expiresInS, signed: signed ?? null });

const listed = (items: readonly string[] | null): JsonValue => (items === null ? null : [...items]);

const present = (members: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
