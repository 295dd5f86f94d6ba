import { describe, expect, it } from 'vitest';

import { compilePolicy, DIAGNOSTICS_MAX, POLICY_DIAGNOSTICS, type PolicyDiagnostic } from '#libs/domain/policies';
import { HEAD, rule, when } from './diagnostic-case.js';
import { DIAGNOSTIC_CASES } from './diagnostic-cases.js';

/** What the tools of an organization say: libs/domain/src/policies/check-tools.spec.ts. */
const OF_TOOLS = [
  'unknown_argument',
  'optional_argument',
  'argument_type',
  'argument_value',
  'no_such_tool',
  'spend_never_charged',
];

const diagnose = (source: string): readonly PolicyDiagnostic[] => {
  const result = compilePolicy(source);
  return result.ok ? result.warnings : result.diagnostics;
};

describe('policy diagnostics: each says what, where and what to do', () => {
  it.each(DIAGNOSTIC_CASES)('$code: $title', ({ code, source, at, path, hint, rule: ruleId }) => {
    const found = diagnose(source).find((diagnostic) => diagnostic.code === code);
    expect(found).toMatchObject({
      object: 'policy_diagnostic',
      severity: POLICY_DIAGNOSTICS[code].severity,
      line: at[0],
      column: at[1],
      ...(path === undefined ? {} : { path }),
      rule_id: ruleId ?? null,
    });
    expect(found?.message).toMatch(/^\S.*\.$/s);
    expect(found?.hint).toContain(hint ?? POLICY_DIAGNOSTICS[code].hint);
  });

  it('every code of the list is produced above or below', () => {
    const covered = new Set<string>([...DIAGNOSTIC_CASES.map(({ code }) => code), ...OF_TOOLS, 'more_problems']);
    expect([...covered].sort()).toEqual(Object.keys(POLICY_DIAGNOSTICS).sort());
  });

  it.each(DIAGNOSTIC_CASES.filter(({ code }) => POLICY_DIAGNOSTICS[code].severity === 'warning'))(
    '$code keeps no version from being saved: $title',
    ({ source }) => expect(compilePolicy(source).ok).toBe(true),
  );
  it.each(DIAGNOSTIC_CASES.filter(({ code }) => POLICY_DIAGNOSTICS[code].severity === 'error'))(
    '$code keeps a version from being saved: $title',
    ({ source }) => expect(compilePolicy(source).ok).toBe(false),
  );
});

describe('policy diagnostics: every problem is reported', () => {
  it('in the order of the text, from several rules and fields', () => {
    const source = `version: 1
defualt: deny
rules:
  - id: one
    when: agnt.id == "x" && tool == 5
    decision: alow
  - id: Two
    match:
      tools:
        - crm.get_?
        - nothing
    decision: deny
    verify: L2
`;
    const found = diagnose(source).map(({ line, code, rule_id: id }) => `${line} ${code} ${id ?? '-'}`);
    expect(found).toEqual([
      '1 missing_field -',
      '2 unknown_field -',
      '5 unknown_fact one',
      '5 type_mismatch one',
      '6 invalid_value one',
      '7 invalid_value -',
      '10 invalid_glob -',
      '11 invalid_glob -',
      '13 misplaced_field -',
    ]);
  });

  it(`at most ${DIAGNOSTICS_MAX}, the last of which counts the rest, errors before warnings`, () => {
    const rules = Array.from(
      { length: 150 },
      (_, index) => `  - id: r${index}\n    when: 1 < 2\n    decision: allow\n  - id: R\n    decision: deny\n`,
    );
    const found = diagnose(`${HEAD}rules:\n${rules.join('')}`);
    expect(found).toHaveLength(DIAGNOSTICS_MAX);
    expect(found.filter(({ severity }) => severity === 'error')).toHaveLength(DIAGNOSTICS_MAX - 1);
    expect(found.find(({ code }) => code === 'more_problems')?.message).toBe('201 more problems are not listed.');
  });

  it('of a condition written as a block, at its very place', () => {
    const source = rule('when: |', '  has(args.a) &&', '    agnt.id == "x"', 'decision: allow');
    expect(diagnose(source)[0]).toMatchObject({ code: 'unknown_fact', line: 7, column: 9 });
  });

  it('of a quoted condition, at its very place', () =>
    expect(diagnose(when('\'tool == "a" && agnt\''))[0]).toMatchObject({ line: 5, column: 27 }));

  it('of a folded condition, at its beginning', () => {
    const source = rule('when: >-', '  has(args.a) &&', '  agnt.id == "x"', 'decision: allow');
    expect(diagnose(source)[0]).toMatchObject({ code: 'unknown_fact', line: 5, column: 11 });
  });

  it('of an index, at what stands in the brackets', () =>
    expect(diagnose(when('tool == "a" && [1, 2][tool] == 1'))[0]).toMatchObject({
      code: 'type_mismatch',
      column: 33,
      hint: 'Write an int in the brackets.',
    }));

  it('columns count characters, not UTF-16 units', () =>
    expect(diagnose(when(`'"😀" == tool && agnt'`))[0]?.column).toBe(27));
});

describe('policy diagnostics: a text is what it looks like', () => {
  const CONTROLS = [0x00, 0x08, 0x0b, 0x1f, 0x7f, 0x85, 0x9f];
  const SEPARATORS = [0x2028, 0x2029];
  const DIRECTIONS = [0x61c, 0x200e, 0x200f, 0x202a, 0x202e, 0x2066, 0x2069];
  const DRAWN_AS_NOTHING = [
    0xad, 0x34f, 0x115f, 0x180e, 0x200b, 0x200c, 0x200d, 0x2060, 0x3164, 0xfe0f, 0xfeff, 0xfff9,
  ];
  const PAST_TWO_BYTES = [0x1d173, 0xe0001, 0xe0041, 0xe0100];

  it.each(
    [...CONTROLS, ...SEPARATORS, ...DIRECTIONS, ...DRAWN_AS_NOTHING, ...PAST_TWO_BYTES].map((point) => ({
      name: `U+${point.toString(16).toUpperCase().padStart(4, '0')}`,
      text: String.fromCodePoint(point),
    })),
  )('$name is refused by its number', ({ name, text }) =>
    expect(diagnose(`${HEAD}# a${text}b\n`)).toMatchObject([
      { code: 'invalid_character', line: 3, column: 4, message: `The character ${name} must not stand in a policy.` },
    ]),
  );

  it.each(['tab\there', 'é ü ß', '日本語', 'עברית', '😀', '⚠️ careful', '👩🏽‍🚀 and ❤️‍🔥', 'नमस्ते'])(
    'what is seen may stand in it: %s',
    (text) => expect(diagnose(`${HEAD}# ${text}\n`)).toEqual([]),
  );

  it('a selector after what is no emoji is not seen', () =>
    expect(diagnose(`${HEAD}# crm.*\ufe0f\n`)).toMatchObject([{ code: 'invalid_character' }]));

  it('an escape in double quotes is seen', () =>
    expect(diagnose(rule('decision: deny', 'message: "\\u200e x"'))).toEqual([]));
});

describe('policy diagnostics: how a function is called', () => {
  it.each([
    ['matches(tool, "x")', 'matches() is asked of a value that stands before it, with a dot between them.'],
    ['args.n.int() == 1', 'int() takes its value in the brackets, not before a dot.'],
    ['tool.matches()', 'matches() takes 1 argument here, not 0.'],
    ['now.getHours("UTC", "UTC") == 1', 'getHours() takes no argument or 1 argument here, not 2.'],
    ['_tool(1)', 'There is no function "_tool".'],
    ['tool.getHours("UTC") == 1', 'getHours() cannot be asked of a string.'],
  ])('%s', (expression, message) => expect(diagnose(when(expression))[0]?.message).toBe(message));
});

describe('policy diagnostics: what is known and not built is checked in shape', () => {
  it.each([
    ['a default', `version: 1\ndefault: maybe\n`, 'default must be one of allow, deny, require_approval, not "maybe".'],
    [
      'a decision',
      rule('decision: maybe'),
      'rules[0].decision must be one of allow, deny, require_approval, not "maybe".',
    ],
    ['a level', rule('decision: allow', 'verify: L9'), 'rules[0].verify must be one of L0, L1, L2, not "L9".'],
    ['a field', `${HEAD}audit: on\n`, 'There is no field "audit" here.'],
    ['a field of a rule', rule('decision: allow', 'aproval: x'), 'There is no field "aproval" here.'],
  ])('%s that is none: nobody is sent to what cannot be saved', (_, source, message) => {
    const [found] = diagnose(source);
    expect(found?.message).toContain(message);
    expect(`${found?.message} ${found?.hint}`).not.toMatch(/L3/);
  });

  const codes = (source: string) => diagnose(source).map(({ code, path }) => `${code} ${path}`);

  it('the example of the architecture is a policy', () =>
    expect(
      codes(`version: 1
default: deny
rules:
  - id: refunds
    match:
      tools:
        - pay.create_refund
    decision: require_approval
    approval:
      approvers:
        - role:admin
      required: 2
      expires_in: 4h
budgets:
  - id: daily
    match:
      agents:
        - "*"
    period: day
    max_calls: 1000
    max_spend:
      amount: 500000
      currency: usd
`),
    ).toEqual([]));

  it('wrong shapes of approvals and budgets are told', () =>
    expect(
      codes(`version: 1
default: deny
rules:
  - id: refunds
    decision: require_approval
    approval:
      approvers:
        - everyone
      required: 0
      expires_in: soon
      notify: chat
budgets:
  - id: daily
    period: decade
    max_spend:
      amount: 1.5
      currency: USD
  - id: daily
    period: day
`),
    ).toEqual([
      'invalid_value rules[0].approval.approvers[0]',
      'invalid_value rules[0].approval.required',
      'invalid_value rules[0].approval.expires_in',
      'unknown_field rules[0].approval.notify',
      'invalid_value budgets[0].period',
      'wrong_type budgets[0].max_spend.amount',
      'invalid_value budgets[0].max_spend.currency',
      'missing_field budgets[1]',
      'duplicate_rule_id budgets[1].id',
    ]));
});
