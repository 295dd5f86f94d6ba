import type { SourceText } from './source-text.js';

interface DiagnosticKind {
  readonly severity: 'error' | 'warning';
  /** What to do about it; a finding may carry a more exact one. */
  readonly hint: string;
}

const error = (hint: string): DiagnosticKind => ({ severity: 'error', hint });
const warning = (hint: string): DiagnosticKind => ({ severity: 'warning', hint });

/**
 * Every finding a policy source can cause. Codes are stable: clients and suggestions branch on them. One error keeps a
 * version from being saved; warnings come with the saved version. docs/policy-language.md explains each with an example.
 */
export const POLICY_DIAGNOSTICS = {
  // The text
  source_too_large: error('Keep the policy below 256 KiB: move repeated conditions into fewer, broader rules.'),
  too_many_lines: error('Keep the policy below 5,000 lines: move repeated conditions into fewer, broader rules.'),
  too_complex: error('Write fewer rules, or use globs instead of long lists of names.'),
  mixed_line_endings: error('Save the file with one kind of line ending, LF or CRLF.'),
  invalid_character: error('Remove the character, or write it as an escape in a double-quoted text.'),
  // YAML
  yaml_syntax: error('Check the indentation and the quotes around this place.'),
  yaml_alias: error('Write the value out where it is used; aliases are not part of the policy language.'),
  yaml_anchor: error('Remove the anchor and write the value out where it is used.'),
  yaml_tag: error('Remove the tag, or put a condition that begins with ! in quotes.'),
  yaml_directive: error('Remove the line; policies need no YAML directives.'),
  yaml_multiple_documents: error('Keep one policy in one text, without a second document.'),
  yaml_flow: error(
    'Write one item a line, each starting with "- " or "name: "; put a condition that begins with [ or { in quotes.',
  ),
  yaml_merge_key: error('Write the fields out; merge keys are not part of the policy language.'),
  yaml_complex_key: error('Use a plain name as the key, followed by a colon.'),
  yaml_nesting: error('A policy is at most seven levels deep; check the indentation.'),
  // Fields
  empty_source: error('Begin with "version: 1" and "default: deny".'),
  duplicate_key: error('Keep one of the two.'),
  unknown_field: error('Remove the field, or correct its name.'),
  missing_field: error('Add the field.'),
  wrong_type: error('Write a value of the type that the message names.'),
  invalid_value: error('Write one of the values that the message names.'),
  too_many_items: error('Use globs instead of long lists of names, or split the list over several rules.'),
  misplaced_field: error('Remove the field, or change the decision of the rule.'),
  unsupported_version: error('Write "version: 1", the only version of the policy language.'),
  too_few_approvers: error('Name as many people as must approve, or a role such as role:admin.'),
  duplicate_rule_id: error('Give every rule an id of its own: deeds and refusals name the rule by it.'),
  invalid_glob: error('Use letters, digits and punctuation of the name, and * for any run of characters.'),
  unreachable_rule: error('Move the rule before the one that the message names, or remove it.'),
  // Conditions
  expression_too_long: error('Keep a condition below 2,048 characters; split it over several rules.'),
  expression_too_complex: error('Use fewer operators and brackets; split the condition over several rules.'),
  expression_syntax: error('Check operators, brackets and quotes; the condition is an expression in CEL.'),
  unknown_fact: error('Read tool, args, agent, user, session, intent, mode, side_effect, now or request.'),
  fact_not_available: error('Remove the condition until a connector of this service supplies the fact.'),
  unknown_function: error('Use one of the functions that docs/policy-language.md lists.'),
  unsupported_expression: error('Write the condition without it; docs/policy-language.md lists what CEL offers here.'),
  type_mismatch: error('Compare and combine values of one type; int(), double() and string() convert.'),
  not_boolean: error('Make the condition a comparison or another expression that is true or false.'),
  invalid_pattern: error('Write the pattern as one literal text in RE2 syntax, of at most 256 characters.'),
  invalid_literal: error('Correct the literal.'),
  cost_too_high: error('Avoid a condition on every item inside another such condition, and long texts in a list.'),
  // Warnings
  level_never_met: warning('Match write or destructive calls of mode gateway, or write "verify: L0".'),
  never_equal: warning('Check the spelling; the two can never be equal.'),
  always_present: warning('Compare with null instead; has() is always true here.'),
  unguarded_fact: warning('Check that the fact is there first, so that calls without it are judged as you expect.'),
  mixed_numbers: warning('Convert first, for example double(args.amount) * 1.5.'),
  constant_condition: warning('Remove the condition, or let it depend on the call.'),
  // What the tools of the organization say, as they are when it is asked
  unknown_argument: warning('Correct the name; GET /v1/tools shows the arguments of every tool.'),
  optional_argument: warning('Look with has() first, so that a call without the argument has an answer.'),
  argument_type: warning('Compare with a value of the type that the tool declares; GET /v1/tools shows it.'),
  argument_value: warning('Write one of the values that the tool declares.'),
  no_such_tool: warning('Correct the name; GET /v1/tools lists the tools. For tools of an edge write "mode: proxy".'),
  spend_never_charged: warning(
    'Give the tools a cost in the connector’s config, or use max_calls, which counts every call.',
  ),
  more_problems: warning('Correct the listed ones and check again.'),
} as const satisfies Record<string, DiagnosticKind>;

export type PolicyDiagnosticCode = keyof typeof POLICY_DIAGNOSTICS;

/** As it stands in `error.diagnostics` of a `policy_invalid` answer and in the answer of a lint. */
export type PolicyDiagnostic = {
  readonly object: 'policy_diagnostic';
  readonly severity: 'error' | 'warning';
  readonly code: PolicyDiagnosticCode;
  readonly message: string;
  readonly hint: string;
  /** 1 for the first line. */
  readonly line: number;
  /** In characters (code points), 1 for the first of the line. */
  readonly column: number;
  readonly rule_id: string | null;
  /** For example `rules[2].match.tools[0]`; null for a finding about the text itself. */
  readonly path: string | null;
};

export const DIAGNOSTICS_MAX = 100;

/** Where in the text, as a UTF-16 offset, and in which field. */
export interface Place {
  readonly offset: number;
  readonly path: string;
}

interface Finding {
  readonly code: PolicyDiagnosticCode;
  readonly offset: number;
  readonly message: string;
  readonly hint: string;
  readonly path: string | null;
  readonly ruleId: string | null;
}

// A list this long says all it can: what is past it is counted and dropped, so that a hostile text costs no memory.
const KEPT_MAX = 1_000;

/** Collects every finding about one source. */
export class Diagnostics {
  private readonly findings: Finding[] = [];
  private dropped = 0;
  private errors = 0;

  constructor(private readonly source: SourceText) {}

  get hasErrors(): boolean {
    return this.errors > 0;
  }

  report(code: PolicyDiagnosticCode, offset: number, message: string, about: FindingDetails = {}): void {
    if (POLICY_DIAGNOSTICS[code].severity === 'error') this.errors += 1;
    if (this.findings.length >= KEPT_MAX) {
      this.dropped += 1;
      return;
    }
    const { hint = POLICY_DIAGNOSTICS[code].hint, path = null, ruleId = null } = about;
    this.findings.push({ code, offset, message, hint, path: path === '' ? null : path, ruleId });
  }

  /** In the order of the text, at most {@link DIAGNOSTICS_MAX}: errors are kept before warnings. */
  list(): readonly PolicyDiagnostic[] {
    const listed = [...this.findings];
    if (listed.length > DIAGNOSTICS_MAX) {
      // Array.prototype.sort is stable, so that among equals the order of finding stays.
      listed.sort((one, other) => severityRank(one) - severityRank(other) || one.offset - other.offset);
      const omitted = listed.splice(DIAGNOSTICS_MAX - 1);
      const message = `${omitted.length + this.dropped} more problems are not listed.`;
      const { offset } = omitted[0] as Finding;
      const code = 'more_problems';
      listed.push({ code, offset, message, hint: POLICY_DIAGNOSTICS[code].hint, path: null, ruleId: null });
    }
    return listed.sort((one, other) => one.offset - other.offset).map((finding) => this.written(finding));
  }

  private written({ code, offset, message, hint, path, ruleId }: Finding): PolicyDiagnostic {
    const { severity } = POLICY_DIAGNOSTICS[code];
    const { line, column } = this.source.positionAt(offset);
    return { object: 'policy_diagnostic', severity, code, message, hint, line, column, rule_id: ruleId, path };
  }
}

/** Findings of several checks of one text, in its order; at most {@link DIAGNOSTICS_MAX}. */
export const inOrderOfText = (...lists: readonly (readonly PolicyDiagnostic[])[]): readonly PolicyDiagnostic[] =>
  lists
    .flat()
    .sort((one, other) => one.line - other.line || one.column - other.column)
    .slice(0, DIAGNOSTICS_MAX);

export interface FindingDetails {
  readonly hint?: string | undefined;
  readonly path?: string;
  readonly ruleId?: string | null;
}

const severityRank = ({ code }: Finding): number => (POLICY_DIAGNOSTICS[code].severity === 'error' ? 0 : 1);

/** Reports about one rule, or about the policy as a whole. */
export class Report {
  constructor(
    private readonly diagnostics: Diagnostics,
    readonly ruleId: string | null = null,
  ) {}

  about(ruleId: string): Report {
    return new Report(this.diagnostics, ruleId);
  }

  add(code: PolicyDiagnosticCode, { offset, path }: Place, message: string, hint?: string): void {
    this.diagnostics.report(code, offset, message, { hint, path, ruleId: this.ruleId });
  }
}
