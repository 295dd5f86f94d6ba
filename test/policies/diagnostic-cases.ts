import type { PolicyDiagnosticCode } from '#libs/domain/policies';

export const HEAD = 'version: 1\ndefault: deny\n';
export const rule = (...lines: readonly string[]) =>
  `${HEAD}rules:\n  - id: a\n${lines.map((line) => `    ${line}\n`).join('')}`;
export const when = (expression: string) => rule(`when: ${expression}`, 'decision: allow');
const match = (...lines: readonly string[]) => rule('match:', ...lines.map((line) => `  ${line}`), 'decision: allow');

export interface DiagnosticCase {
  readonly title: string;
  readonly code: PolicyDiagnosticCode;
  readonly source: string;
  readonly at: readonly [line: number, column: number];
  readonly path?: string;
  /** Part of the hint, where it is more exact than the code's own. */
  readonly hint?: string;
  readonly rule?: string;
}

const inRule = 'a';
const WHEN = 'rules[0].when';

const TEXT_CASES: readonly DiagnosticCase[] = [
  { title: 'more than 256 KiB', code: 'source_too_large', source: `# ${'é'.repeat(131_072)}`, at: [1, 1] },
  { title: 'more than 5,000 lines', code: 'too_many_lines', source: '#\n'.repeat(5_000), at: [5_001, 1] },
  { title: 'more than 30,000 tokens', code: 'too_complex', source: 'a: a: a: a:\n'.repeat(4_000), at: [2_501, 1] },
  { title: 'LF in a CRLF file', code: 'mixed_line_endings', source: 'version: 1\r\ndefault: deny\n', at: [2, 14] },
  { title: 'CR alone', code: 'mixed_line_endings', source: 'version: 1\rdefault: deny\r', at: [1, 11] },
  { title: 'a control character', code: 'invalid_character', source: `${HEAD}# a\u0000b\n`, at: [3, 4] },
  { title: 'a text that turns round', code: 'invalid_character', source: `${HEAD}# \u202Eyned\n`, at: [3, 3] },
  { title: 'half a character', code: 'invalid_character', source: `${HEAD}# 😀\uD800\n`, at: [3, 4] },
  { title: 'a byte order mark', code: 'invalid_character', source: `\uFEFF${HEAD}`, at: [1, 1] },
];

const YAML_CASES: readonly DiagnosticCase[] = [
  { title: 'a quote left open', code: 'yaml_syntax', source: `${HEAD}rules: "x\n`, at: [4, 1], hint: 'closing quote' },
  {
    title: 'a colon in a plain value',
    code: 'yaml_syntax',
    source: `${HEAD}rules: x: y\n`,
    at: [3, 8],
    hint: 'quotes',
  },
  {
    title: 'tabs as indentation',
    code: 'yaml_syntax',
    source: `${HEAD}rules:\n\t- id: a\n`,
    at: [4, 1],
    hint: 'spaces',
  },
  { title: 'an alias', code: 'yaml_alias', source: `${HEAD}rules: *all\n`, at: [3, 8] },
  { title: 'an anchor', code: 'yaml_anchor', source: `${HEAD}rules: &all\n`, at: [3, 8] },
  { title: 'a tag', code: 'yaml_tag', source: 'version: !!int 1\n', at: [1, 10] },
  { title: 'a script tag', code: 'yaml_tag', source: 'version: !!js/function x\n', at: [1, 10] },
  { title: 'a directive', code: 'yaml_directive', source: `%YAML 1.2\n---\n${HEAD}`, at: [1, 1] },
  { title: 'a second document', code: 'yaml_multiple_documents', source: `${HEAD}---\n${HEAD}`, at: [3, 1] },
  { title: 'a document after the end', code: 'yaml_multiple_documents', source: `${HEAD}...\na: 1\n`, at: [4, 1] },
  { title: 'a list in brackets', code: 'yaml_flow', source: `${HEAD}rules: []\n`, at: [3, 8] },
  {
    title: 'a mapping in braces',
    code: 'yaml_flow',
    source: `${HEAD}rules: {}\n`,
    at: [3, 8],
    hint: 'one item a line',
  },
  { title: 'a merge key', code: 'yaml_merge_key', source: `${HEAD}<<: x\n`, at: [3, 1], path: '<<' },
  { title: 'a marked key', code: 'yaml_complex_key', source: `${HEAD}? rules\n: x\n`, at: [3, 1] },
  { title: 'a number as a key', code: 'yaml_complex_key', source: `${HEAD}1: x\n`, at: [3, 1] },
  { title: 'many levels in one line', code: 'yaml_nesting', source: `rules: ${'- '.repeat(17)}`, at: [1, 38] },
  { title: 'deep indentation', code: 'yaml_nesting', source: `rules:\n${' '.repeat(101)}- a\n`, at: [2, 1] },
  { title: 'nothing', code: 'empty_source', source: '', at: [1, 1] },
  { title: 'comments alone', code: 'empty_source', source: '# later\n', at: [1, 1] },
];

const FIELD_CASES: readonly DiagnosticCase[] = [
  { title: 'a key twice', code: 'duplicate_key', source: `${HEAD}default: allow\n`, at: [3, 1], path: 'default' },
  {
    title: 'a misspelt field',
    code: 'unknown_field',
    source: rule('desicion: allow'),
    at: [5, 5],
    path: 'rules[0].desicion',
    hint: 'Did you mean decision?',
    rule: inRule,
  },
  {
    title: 'an unknown field',
    code: 'unknown_field',
    source: `${HEAD}audit: on\n`,
    at: [3, 1],
    path: 'audit',
    hint: 'Known here: version',
  },
  { title: 'no version', code: 'missing_field', source: 'default: deny\n', at: [1, 1], hint: 'version: 1' },
  { title: 'no default', code: 'missing_field', source: 'version: 1\n', at: [1, 1], hint: 'default: deny' },
  {
    title: 'no decision',
    code: 'missing_field',
    source: rule(),
    at: [4, 5],
    path: 'rules[0]',
    rule: inRule,
    hint: 'decision: allow',
  },
  {
    title: 'no id',
    code: 'missing_field',
    source: `${HEAD}rules:\n  - decision: deny\n`,
    at: [4, 5],
    path: 'rules[0]',
    hint: 'read-crm',
  },
  { title: 'a list as the policy', code: 'wrong_type', source: '- version: 1\n', at: [1, 1], hint: 'name: value' },
  {
    title: 'a field without a value',
    code: 'wrong_type',
    source: `${HEAD}rules:\n`,
    at: [3, 1],
    path: 'rules',
    hint: 'one item a line',
  },
  {
    title: 'a number for a text',
    code: 'wrong_type',
    source: match('tools:', '  - 12'),
    at: [7, 11],
    path: 'rules[0].match.tools[0]',
    hint: '"12"',
    rule: inRule,
  },
  {
    title: 'another spelling of a number',
    code: 'wrong_type',
    source: 'version: 0x1\ndefault: deny\n',
    at: [1, 10],
    hint: 'plain digits',
  },
  {
    title: 'an unknown decision',
    code: 'invalid_value',
    source: rule('decision: alow'),
    at: [5, 15],
    path: 'rules[0].decision',
    hint: 'Did you mean allow?',
    rule: inRule,
  },
  {
    title: 'an id in capitals',
    code: 'invalid_value',
    source: `${HEAD}rules:\n  - id: Read CRM\n    decision: allow\n`,
    at: [4, 9],
    path: 'rules[0].id',
    hint: 'read-crm',
  },
  {
    title: 'a message of two lines',
    code: 'invalid_value',
    source: rule('decision: deny', 'message: |', '  one', '  two'),
    at: [6, 14],
    path: 'rules[0].message',
    hint: 'Shorten',
    rule: inRule,
  },
  {
    title: 'an empty condition',
    code: 'invalid_value',
    source: when('""'),
    at: [5, 11],
    path: WHEN,
    hint: 'leave the field out',
    rule: inRule,
  },
  {
    title: '65 globs',
    code: 'too_many_items',
    source: match('tools:', ...Array.from({ length: 65 }, (_, index) => `  - t.a${index}`)),
    at: [7, 9],
    path: 'rules[0].match.tools',
    rule: inRule,
  },
  {
    title: 'a message on a rule that allows',
    code: 'misplaced_field',
    source: rule('decision: allow', 'message: no'),
    at: [6, 5],
    path: 'rules[0].message',
    rule: inRule,
  },
  {
    title: 'verify on a rule that denies',
    code: 'misplaced_field',
    source: rule('decision: deny', 'verify: L0'),
    at: [6, 5],
    path: 'rules[0].verify',
    rule: inRule,
  },
  {
    title: 'an approval on a rule that allows',
    code: 'misplaced_field',
    source: rule('decision: allow', 'approval:', '  approvers:', '    - role:admin'),
    at: [6, 5],
    path: 'rules[0].approval',
    rule: inRule,
    hint: 'Remove the field.',
  },
  { title: 'version 2', code: 'unsupported_version', source: 'version: 2\ndefault: deny\n', at: [1, 10] },
  {
    title: 'a decision by people',
    code: 'not_supported_yet',
    source: rule('decision: require_approval'),
    at: [5, 15],
    path: 'rules[0].decision',
    rule: inRule,
  },
  {
    title: 'a default by people',
    code: 'not_supported_yet',
    source: 'version: 1\ndefault: require_approval\n',
    at: [2, 10],
    path: 'default',
  },
  {
    title: 'a budget',
    code: 'not_supported_yet',
    source: `${HEAD}budgets:\n  - id: daily\n    period: day\n    max_calls: 5\n`,
    at: [3, 1],
    path: 'budgets',
  },
  {
    title: 'verification at L1',
    code: 'not_supported_yet',
    source: rule('decision: allow', 'verify: L1'),
    at: [6, 13],
    path: 'rules[0].verify',
    hint: 'verify: L0',
    rule: inRule,
  },
  {
    title: 'an id twice',
    code: 'duplicate_rule_id',
    source: `${rule('when: args.x == 1', 'decision: allow')}  - id: a\n    decision: deny\n`,
    at: [7, 9],
    path: 'rules[1].id',
    rule: inRule,
  },
  {
    title: 'a glob with another wildcard',
    code: 'invalid_glob',
    source: match('tools:', '  - crm.get_?'),
    at: [7, 11],
    path: 'rules[0].match.tools[0]',
    rule: inRule,
  },
  {
    title: 'a glob without a connector',
    code: 'invalid_glob',
    source: match('tools:', '  - get_customer'),
    at: [7, 11],
    path: 'rules[0].match.tools[0]',
    rule: inRule,
  },
  {
    title: 'two stars in a row',
    code: 'invalid_glob',
    source: match('labels:', '  team: "s**"'),
    at: [7, 15],
    path: 'rules[0].match.labels.team',
    rule: inRule,
  },
  {
    title: 'a rule behind one that takes everything',
    code: 'unreachable_rule',
    source: `${rule('decision: allow')}  - id: b\n    decision: deny\n`,
    at: [6, 9],
    path: 'rules[1].id',
    rule: 'b',
  },
];

const CONDITIONS: readonly Omit<DiagnosticCase, 'path' | 'rule'>[] = [
  { title: '2,049 characters', code: 'expression_too_long', source: when(`'"${'x'.repeat(2_047)}"'`), at: [5, 12] },
  {
    title: '33 brackets deep',
    code: 'expression_too_complex',
    source: when(`${'('.repeat(33)}true${')'.repeat(33)}`),
    at: [5, 43],
  },
  { title: '501 tokens', code: 'expression_too_complex', source: when(`args.a${' + 1'.repeat(249)}`), at: [5, 1012] },
  { title: 'two operators', code: 'expression_syntax', source: when('args.a == == 1'), at: [5, 18] },
  { title: 'an unknown variable', code: 'unknown_fact', source: when('agnt.id == "x"'), at: [5, 11], hint: 'agent' },
  {
    title: 'an unknown field',
    code: 'unknown_fact',
    source: when('has(args.x) && agent.nam == "x"'),
    at: [5, 31],
    hint: 'agent.name',
  },
  { title: 'SQL facts', code: 'fact_not_available', source: when('request.sql.kind == "select"'), at: [5, 18] },
  { title: 'payments facts', code: 'fact_not_available', source: when('has(request.payments)'), at: [5, 11] },
  {
    title: 'an unknown function',
    code: 'unknown_function',
    source: when('tool.startWith("a")'),
    at: [5, 15],
    hint: 'startsWith',
  },
  {
    title: 'a macro misused',
    code: 'unknown_function',
    source: when('has(tool)'),
    at: [5, 11],
    hint: 'has(args.note)',
  },
  { title: 'bytes', code: 'unsupported_expression', source: when("args.a == b'x'"), at: [5, 21] },
  { title: 'a string and an int', code: 'type_mismatch', source: when('tool == 5'), at: [5, 16] },
  { title: 'an operator on bools', code: 'type_mismatch', source: when('intent.signed + intent.signed'), at: [5, 25] },
  { title: 'no bool', code: 'not_boolean', source: when('size(args.text)'), at: [5, 11] },
  { title: 'a bad pattern', code: 'invalid_pattern', source: when('tool.matches("a(")'), at: [5, 24] },
  { title: 'a computed pattern', code: 'invalid_pattern', source: when('tool.matches(args.p)'), at: [5, 28] },
  { title: 'lookahead', code: 'invalid_pattern', source: when('tool.matches("(?=a)")'), at: [5, 24] },
  { title: 'no time', code: 'invalid_literal', source: when('now < timestamp("2026-02-30")'), at: [5, 27] },
  { title: 'no zone', code: 'invalid_literal', source: when('now.getHours("Mars/Base") < 8'), at: [5, 24] },
  { title: 'no 64-bit number', code: 'invalid_literal', source: when('args.a == 9223372036854775808'), at: [5, 21] },
  {
    title: 'a condition on every item of every item',
    code: 'cost_too_high',
    source: when('args.a.all(x, x.b.all(y, y < 5))'),
    at: [5, 11],
  },
  {
    title: 'a side effect that does not exist',
    code: 'never_equal',
    source: when('side_effect == "delete"'),
    at: [5, 26],
  },
  {
    title: 'has() of what is always there',
    code: 'always_present',
    source: when('has(user.ref)'),
    at: [5, 11],
    hint: 'null',
  },
  {
    title: 'a request that may not be there',
    code: 'unguarded_fact',
    source: when('request.http.method == "GET"'),
    at: [5, 18],
    hint: 'has(request.http) && ',
  },
  {
    title: 'a user that may be null',
    code: 'unguarded_fact',
    source: when('user.ref.startsWith("u-")'),
    at: [5, 15],
    hint: 'user.ref != null && ',
  },
  {
    title: 'ints and doubles',
    code: 'mixed_numbers',
    source: when('args.a * 1.5 > 3.0'),
    at: [5, 18],
    hint: 'double(',
  },
  { title: 'the same for every call', code: 'constant_condition', source: when('1 < 2'), at: [5, 13] },
];

const WHEN_CASES = CONDITIONS.map((one) => ({ ...one, path: WHEN, rule: inRule }));

/** Every code of the list, and for most several ways to cause it. */
export const DIAGNOSTIC_CASES = [...TEXT_CASES, ...YAML_CASES, ...FIELD_CASES, ...WHEN_CASES];
