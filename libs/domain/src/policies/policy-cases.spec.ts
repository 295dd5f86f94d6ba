import { describe, expect, it } from 'vitest';
import { policyInput } from '../../../../test/support/given-policy-input.js';
import { compilePolicy } from './compile-policy.js';
import { CASES_MAX, readCasesInTurns, type PolicyCase } from './policy-cases.js';
import { testPolicyInTurns } from './test-policy.js';
import { completedInput } from './trial-input.js';

const FILE = `# What support may do.
---
- name: small refunds go through
  input:
    tool: pay.refund
    args:
      amount: 50
      tags:
        - urgent
      note: "1"
      express: true
      customer:
        id: 7
      nothing:
    agent:
      name: support-1
      labels:
        team: support
    user:
      ref: u-1
    mode: gateway
    side_effect: write
    now: 2026-10-01T10:00:00+02:00
    request:
      http:
        method: POST
        path: /v1/refunds
        host: pay.example.com
  expect:
    decision: allow
    rule: small

- name: 'unknown tools do not'
  input:
    tool: nothing.known
  expect:
    decision: deny
`;

const read = async (text: string): Promise<readonly PolicyCase[]> => {
  const result = await readCasesInTurns(text);
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return result.cases;
};
const problems = async (text: string) => {
  const result = await readCasesInTurns(text);
  return result.ok ? [] : result.diagnostics.map(({ line, code, path }) => [line, code, path]);
};
const oneCase = (...lines: readonly string[]): string => `- name: a\n${lines.map((line) => `  ${line}\n`).join('')}`;
const EXPECT = ['expect:', '  decision: deny'];
const INPUT = ['input:', '  tool: a.b'];

describe('a file of cases', () => {
  it('is read with the line of each case, its input as plain JSON', async () => {
    const [first, second] = await read(FILE);
    expect(first).toMatchObject({
      name: 'small refunds go through',
      line: 3,
      expect: { decision: 'allow', rule: 'small' },
    });
    expect(first?.input).toEqual({
      tool: 'pay.refund',
      args: { amount: 50, tags: ['urgent'], note: '1', express: true, customer: { id: 7 }, nothing: null },
      agent: { id: 'agt_00000000000000000000000000', name: 'support-1', labels: { team: 'support' } },
      user: { ref: 'u-1' },
      session: { ref: null },
      intent: { signed: false },
      mode: 'gateway',
      sideEffect: 'write',
      now: '2026-10-01T08:00:00.000Z',
      request: { http: { method: 'POST', path: '/v1/refunds', host: 'pay.example.com' } },
    });
    expect(second).toMatchObject({ name: 'unknown tools do not', line: 33, expect: { decision: 'deny', rule: null } });
  });

  it('may end its lines in CRLF', async () => {
    expect((await read(FILE.replaceAll('\n', '\r\n'))).map(({ line }) => line)).toEqual([3, 33]);
  });

  it('tells what a case leaves out by the tool, and else by nobody in particular', async () => {
    const [, { input }] = (await read(FILE)) as [PolicyCase, PolicyCase];
    const facts = { http: { method: 'GET', path: '/', host: 'a' } };
    const now = '2026-10-02T00:00:00.000Z';
    expect(completedInput(input, { sideEffect: 'read', facts }, now)).toMatchObject({
      side_effect: 'read',
      request: facts,
      now,
      agent: { name: 'test-agent' },
    });
    expect(completedInput(input, null, now)).toMatchObject({ side_effect: 'unknown', request: {} });
  });

  it.each<[string, string, unknown[]]>([
    ['no case', '# nothing\n', [1, 'empty_source', null]],
    ['no list', 'cases:\n  - name: a\n', [1, 'wrong_type', null]],
    ['a case that is no mapping', `${oneCase(...INPUT, ...EXPECT)}- text\n`, [6, 'wrong_type', 'cases[1]']],
    ['braces', oneCase('input: {tool: a.b}', ...EXPECT), [2, 'yaml_flow', null]],
    ['an anchor', oneCase('input: &a', '  tool: a.b', ...EXPECT), [2, 'yaml_anchor', null]],
    ['another field', oneCase(...INPUT, ...EXPECT, 'expects: 1'), [6, 'unknown_field', 'cases[0].expects']],
    ['no input', oneCase(...EXPECT), [1, 'missing_field', 'cases[0]']],
    ['no expectation', oneCase(...INPUT), [1, 'missing_field', 'cases[0]']],
    ['no decision', oneCase(...INPUT, 'expect:', '  rule: a'), [5, 'missing_field', 'cases[0].expect']],
    [
      'no such decision',
      oneCase(...INPUT, 'expect:', '  decision: alow'),
      [5, 'invalid_value', 'cases[0].expect.decision'],
    ],
    ['no tool', oneCase('input:', '  args:', '    a: 1', ...EXPECT), [3, 'invalid_value', 'cases[0].input']],
    ['another member', oneCase('input:', '  tool: a.b', '  arg: 1', ...EXPECT), [3, 'invalid_value', 'cases[0].input']],
    [
      'a number that is none',
      oneCase(...INPUT, '  args:', '    a: .inf', ...EXPECT),
      [5, 'invalid_value', 'cases[0].input.args.a'],
    ],
    [
      'a member twice',
      oneCase(...INPUT, '  args:', '    a: 1', '    a: 2', ...EXPECT),
      [6, 'duplicate_key', 'cases[0].input.args.a'],
    ],
    ['a moment that is none', oneCase(...INPUT, '  now: yesterday', ...EXPECT), [3, 'invalid_value', 'cases[0].input']],
    [
      'labels that are no texts',
      oneCase(...INPUT, '  agent:', '    labels:', '      a: 1', ...EXPECT),
      [3, 'invalid_value', 'cases[0].input'],
    ],
    [
      'an empty name',
      `- name: ''\n  input:\n    tool: a.b\n  expect:\n    decision: deny\n`,
      [1, 'invalid_value', 'cases[0].name'],
    ],
  ])('is refused with the line: %s', async (_what, text, problem) => {
    expect(await problems(text)).toEqual([problem]);
  });

  it('is refused past its limits', async () => {
    const many = oneCase(...INPUT, ...EXPECT).repeat(CASES_MAX + 1);
    expect(await problems(many)).toEqual([[1, 'too_many_items', null]]);
    expect(await problems(`# ${'x'.repeat(1_048_576)}`)).toEqual([[1, 'source_too_large', null]]);
    expect((await read(oneCase(...INPUT, ...EXPECT).repeat(CASES_MAX))).length).toBe(CASES_MAX);
  });

  it.each([
    [
      'its bytes',
      `    args:\n      text: ${'x'.repeat(262_144)}\n`,
      'source_too_large',
      'is larger than 256 KiB of UTF-8.',
    ],
    ['its lines', `    args:\n${'      # a line\n'.repeat(5_001)}`, 'too_many_lines', 'lines; at most 5000 are read.'],
  ])('of one case names the case where the limit is that of %s', async (_what, args, code, end) => {
    const large = `- name: "refunds"\n  input:\n    tool: a.b\n${args}  expect:\n    decision: deny\n`;
    const found = await readCasesInTurns(oneCase(...INPUT, ...EXPECT) + large);
    if (found.ok) throw new Error('it was read');
    expect(found.diagnostics).toMatchObject([{ code, line: expect.any(Number) as number }]);
    expect(found.diagnostics[0]?.message).toMatch(/^Case 2, "refunds", /);
    expect(found.diagnostics[0]?.message).toContain(end);
    expect(found.diagnostics[0]?.hint).not.toContain('policy');
  });

  it('tells every problem of every case', async () => {
    const bad = oneCase(...INPUT);
    expect(await problems(bad + bad)).toEqual([
      [1, 'missing_field', 'cases[0]'],
      [4, 'missing_field', 'cases[1]'],
    ]);
  });
});

describe('a test', () => {
  const compiled = compilePolicy('version: 1\ndefault: deny\nrules:\n  - id: all\n    decision: allow\n');
  if (!compiled.ok) throw new Error('the policy does not compile');
  const { policy } = compiled;
  const expecting = (...lines: readonly string[]): string => oneCase(...INPUT, 'expect:', ...lines);

  it.each([
    [['  decision: allow'], true],
    [['  decision: allow', '  rule: all'], true],
    [['  decision: allow', '  rule: other'], false],
    [['  decision: deny'], false],
  ])('that expects %j passes: %s', async (lines, isOk) => {
    const results = await testPolicyInTurns(
      policy,
      await read(expecting(...lines)),
      () => policyInput(),
      () => true,
    );
    expect(results).toMatchObject([{ isOk, decision: { outcome: 'allow', ruleId: 'all' } }]);
  });

  it('ends where its time does', async () => {
    const cases = await read(expecting('  decision: allow').repeat(3));
    let left = 2;
    const results = await testPolicyInTurns(
      policy,
      cases,
      () => policyInput(),
      () => left-- > 0,
    );
    expect(results).toHaveLength(2);
  });
});
