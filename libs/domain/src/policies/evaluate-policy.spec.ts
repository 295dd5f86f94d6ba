import type { JsonObject } from '#libs/crypto';
import { describe, expect, it } from 'vitest';

import { policyInput } from '../../../../test/support/given-policy-input.js';
import { compilePolicy } from './compile-policy.js';
import type { CompiledPolicy } from './compiled-policy.js';
import {
  evaluatePolicy,
  type PolicyDecision,
  policyUnavailable,
  UNWATCHED_STEPS_MAX,
  UNWATCHED_VALUES_MAX,
} from './evaluate-policy.js';
import type { PolicyInput } from './policy-input.js';
import { STARTER_POLICY } from './starter-policy.js';

const compiled = (source: string): CompiledPolicy => {
  const result = compilePolicy(source);
  if (!result.ok) throw new Error(result.diagnostics.map(({ line, message }) => `${line}: ${message}`).join('\n'));
  return result.policy;
};
// What is asked here is never about time: a test machine may be slow and cold.
const decide = (source: string, over: Partial<PolicyInput> = {}): PolicyDecision =>
  evaluatePolicy(compiled(source), policyInput(over), { limitMs: 5_000 });

const policy = (defaultOutcome: string, ...rules: readonly string[]) =>
  `version: 1\ndefault: ${defaultOutcome}\n${rules.length === 0 ? '' : `rules:\n${rules.join('')}`}`;
const rule = (id: string, decision: string, ...lines: readonly string[]) =>
  `  - id: ${id}\n    decision: ${decision}\n${lines.map((line) => `    ${line}\n`).join('')}`;
const condition = (expression: string) => ['when: |', `  ${expression}`];

/** Whether a condition holds, or why it has no answer. */
const ask = (expression: string, over: Partial<PolicyInput> = {}): boolean | string => {
  const decision = decide(policy('deny', rule('asked', 'allow', ...condition(expression))), over);
  return decision.code === 'policy_unavailable' ? decision.reason : decision.outcome === 'allow';
};
const askArgs = (expression: string, args: JsonObject) => ask(expression, { args });

describe('decision: the first rule that applies decides, else the default', () => {
  it('a rule that allows', () =>
    expect(decide(policy('deny', rule('none', 'deny', 'match:', '  mode: proxy'), rule('one', 'allow')))).toEqual({
      outcome: 'allow',
      code: null,
      source: 'rule',
      ruleId: 'one',
      reason: 'rule one',
      message: null,
      approval: null,
      timeLimitTripped: false,
    }));
  it('a rule that denies, in its own words', () =>
    expect(decide(policy('allow', rule('one', 'deny', 'message: Not on Fridays.')))).toEqual({
      outcome: 'deny',
      code: 'policy_denied',
      source: 'rule',
      ruleId: 'one',
      reason: 'rule one',
      message: 'Not on Fridays.',
      approval: null,
      timeLimitTripped: false,
    }));
  it('a rule that denies without words of its own is named to the agent', () =>
    expect(decide(policy('allow', rule('no-writes', 'deny'))).message).toContain('no-writes'));
  it('default deny', () =>
    expect(decide(policy('deny'))).toMatchObject({
      outcome: 'deny',
      code: 'policy_denied',
      source: 'default',
      ruleId: null,
      reason: 'default deny',
      message: expect.stringContaining('No rule'),
    }));
  it('default allow', () =>
    expect(decide(policy('allow'))).toMatchObject({
      outcome: 'allow',
      code: null,
      source: 'default',
      reason: 'default allow',
      message: null,
    }));
  it('a rule that asks for an approval, with its terms', () =>
    expect(
      decide(policy('allow', rule('one', 'require_approval', 'approval:', '  required: 2', '  expires_in: 4h'))),
    ).toEqual({
      outcome: 'require_approval',
      code: null,
      source: 'rule',
      ruleId: 'one',
      reason: 'rule one',
      message: null,
      approval: { approvers: ['role:admin'], required: 2, expiresInS: 14_400 },
      timeLimitTripped: false,
    }));
  it('default require_approval: one admin, for as long as the organization says', () =>
    expect(decide(policy('require_approval'))).toMatchObject({
      outcome: 'require_approval',
      code: null,
      source: 'default',
      ruleId: null,
      reason: 'default require_approval',
      message: null,
      approval: { approvers: ['role:admin'], required: 1, expiresInS: null },
    }));
  it('the order of rules decides, not their decision', () => {
    const all = rule('all', 'allow', 'when: args.x == 1');
    const none = rule('none', 'deny', 'when: args.x == 1');
    expect(decide(policy('deny', all, none), { args: { x: 1 } }).ruleId).toBe('all');
    expect(decide(policy('deny', none, all), { args: { x: 1 } }).ruleId).toBe('none');
  });
});

describe('decision: a rule is about the calls its match names', () => {
  const matched = (lines: readonly string[], over: Partial<PolicyInput> = {}) =>
    decide(policy('deny', rule('one', 'allow', 'match:', ...lines.map((line) => `  ${line}`))), over).outcome ===
    'allow';

  it.each([
    ['tools', ['tools:', '  - db.*', '  - crm.get_*'], {}, true],
    ['tools', ['tools:', '  - crm.set_*'], {}, false],
    ['agents by name', ['agents:', '  - support-*'], {}, true],
    ['agents by name', ['agents:', '  - agt_*'], {}, false],
    ['labels', ['labels:', '  team: sup*'], {}, true],
    ['every label', ['labels:', '  team: sup*', '  tier: "*"'], {}, false],
    ['mode', ['mode: proxy'], {}, false],
    ['mode', ['mode: proxy'], { mode: 'proxy' }, true],
    ['side effect', ['side_effect:', '  - read', '  - write'], { side_effect: 'write' }, true],
    ['side effect', ['side_effect: destructive'], { side_effect: 'unknown' }, false],
    ['all fields at once', ['tools:', '  - crm.*', 'mode: proxy'], {}, false],
  ] as const)('%s: %j', (_, lines, over, expected) => expect(matched(lines, over)).toBe(expected));

  it('a label named like a member of every object is only a label', () =>
    expect(matched(['labels:', '  constructor: "*"'])).toBe(false));
});

describe('decision: the starter policy', () => {
  it.each([
    ['read', 'allow'],
    ['write', 'deny'],
    ['destructive', 'deny'],
    ['unknown', 'deny'],
  ] as const)('%s is %s', (sideEffect, outcome) =>
    expect(decide(STARTER_POLICY, { side_effect: sideEffect }).outcome).toBe(outcome),
  );
});

describe('decision: what cannot be judged is refused, never passed over', () => {
  const fault = (name: string) => `evaluation error in rule asked: ${name}`;

  it.each([
    ['args.amount <= 5', {}, 'no such field'],
    ['args.a.b == 1', { a: {} }, 'no such field'],
    ['args.a.b == 1', { a: 5 }, 'type mismatch'],
    ['args.text[0] == "a"', { text: 'abc' }, 'type mismatch'],
    ['args.n[0] == 1', { n: 5 }, 'type mismatch'],
    ['args.list["a"] == 1', { list: [1] }, 'type mismatch'],
    ['args.list[3] == 1', { list: [1] }, 'no such item'],
    ['args.amount <= 5', { amount: '4' }, 'type mismatch'],
    ['args.amount', { amount: 1 }, 'not a bool'],
    ['args.a && args.b', { a: true, b: 1 }, 'type mismatch'],
    ['10 / args.n == 1', { n: 0 }, 'division by zero'],
    ['args.n + 9223372036854775807 > 0', { n: 1 }, 'number out of range'],
    ['args.list.all(x, x == 1)', { list: 5 }, 'type mismatch'],
    ['int(args.n) == 12', { n: ' 12' }, 'invalid value'],
    ['double(args.n) == 1.0', { n: '1e400' }, 'invalid value'],
    ['timestamp(args.at) < now', { at: 'yesterday' }, 'invalid value'],
    ['args.list.exists(x, x == 1)', { list: Array<number>(1_001).fill(2) }, 'too many items'],
    ['1 in args.list', { list: Array<number>(1_001).fill(2) }, 'too many items'],
    ['args.text.matches("z")', { text: 'a'.repeat(65_537) }, 'too many items'],
  ] as const)('%s on %j', (expression, args, name) =>
    expect(askArgs(expression, args as unknown as JsonObject)).toBe(fault(name)),
  );

  it('the refusal is policy_unavailable, by the service, and names the rule', () =>
    expect(decide(policy('allow', rule('broken', 'allow', 'when: args.x == 1')))).toEqual({
      outcome: 'deny',
      code: 'policy_unavailable',
      source: 'builtin',
      ruleId: 'broken',
      reason: 'evaluation error in rule broken: no such field',
      message:
        'The rule broken of the policy reads args.x, which this call does not have, so nothing was run. Check the arguments, or ask an admin to check the rule.',
      approval: null,
      timeLimitTripped: false,
    }));

  it.each<[string, JsonObject, string]>([
    ['args.order.total <= 5', {}, 'reads args.order, which this call does not have'],
    ['args.order.total <= 5', { order: {} }, 'reads args.order.total, which this call does not have'],
    ['args["x-total"] <= 5', {}, 'reads args["x-total"], which this call does not have'],
    ['args.list[2] == 1', { list: [1] }, 'reads args.list[2], which this call does not have'],
    ['args.text[0] == "a"', { text: 'abc' }, 'looks into args.text, which is no list and no object in this call'],
    ['args.a <= 5', { a: '4' }, 'has no answer for this call (type mismatch)'],
    ['args.list.exists(x, x.id == 1)', { list: [{}] }, 'has no answer for this call (no such field)'],
  ])('the sentence names what %s lacks', (condition, args, why) => {
    const source = policy('deny', rule('broken', 'allow', `when: '${condition}'`));
    expect(decide(source, { args }).message).toContain(`The rule broken of the policy ${why}, so nothing was run.`);
  });

  it('the sentence holds nothing of the call', () =>
    expect(
      decide(policy('deny', rule('broken', 'allow', 'when: args[args.key] == 1')), { args: { key: 'secret-4711' } })
        .message,
    ).not.toContain('4711'));
  it('the reason holds nothing of the call', () =>
    expect(askArgs('args[args.key] == 1', { key: 'secret-4711' })).toBe(fault('no such field')));
  it('a rule that does not match is not asked', () =>
    expect(
      decide(policy('allow', rule('broken', 'deny', 'match:', '  mode: proxy', 'when: args.x == 1'))).outcome,
    ).toBe('allow'));
  it('an error that another part of the condition makes irrelevant is none', () => {
    expect(askArgs('args.missing == 1 || args.ok', { ok: true })).toBe(true);
    expect(askArgs('args.missing == 1 && args.ok', { ok: false })).toBe(false);
  });
  it('a version that cannot be used is refused in the same form', () =>
    expect(policyUnavailable('version does not compile')).toMatchObject({
      outcome: 'deny',
      code: 'policy_unavailable',
      source: 'builtin',
      reason: 'version does not compile',
    }));
});

describe('decision: calls without an HTTP request (rule POLICY-5)', () => {
  const read = 'when: request.http.method == "GET"';
  const http = { method: 'GET', path: '/v1/customers/42', host: 'api.example.com' };

  it('a rule that allows by the request does not apply: the default denies', () =>
    expect(decide(policy('deny', rule('reads', 'allow', read)))).toMatchObject({
      code: 'policy_denied',
      source: 'default',
    }));
  it('a rule that denies by the request refuses', () =>
    expect(decide(policy('allow', rule('no-gets', 'deny', read)))).toMatchObject({
      code: 'policy_unavailable',
      reason: 'evaluation error in rule no-gets: no request.http',
    }));
  it('a rule that asks a person by the request refuses: it is not passed over', () =>
    expect(decide(policy('allow', rule('ask-for-gets', 'require_approval', read)))).toMatchObject({
      code: 'policy_unavailable',
      reason: 'evaluation error in rule ask-for-gets: no request.http',
    }));
  it('another error in a rule that allows is no lack of a request', () =>
    expect(ask('args.missing == 1 && request.http.method == "GET"')).toBe(
      'evaluation error in rule asked: no such field',
    ));
  it('an argument that is called http is not the fact', () =>
    expect(askArgs('args.http == 1', {})).toBe('evaluation error in rule asked: no such field'));
  it('a rule that looks first is judged', () => {
    expect(ask('has(request.http) && request.http.method == "GET"')).toBe(false);
    expect(ask('has(request.http) && request.http.method == "GET"', { request: { http } })).toBe(true);
    expect(ask('!has(request.http)')).toBe(true);
  });
  it('with a request its facts are read', () => {
    expect(ask('request.http.path.startsWith("/v1/customers/")', { request: { http } })).toBe(true);
    expect(ask('request.http.host == "api.example.com"', { request: { http } })).toBe(true);
  });
});

describe('decision: what a server says of its tool', () => {
  const hints = { read_only: true, destructive: false, idempotent: true, open_world: false };
  const mcp = { protocol: '2026-07-28', definition: 'sha256:1', ...hints };

  it.each([
    'request.mcp.read_only && !request.mcp.destructive && request.mcp.idempotent && !request.mcp.open_world',
    'request.mcp.protocol >= "2025-06-18" && request.mcp.definition == "sha256:1"',
    'has(request.mcp) && !has(request.http)',
  ])('%s', (condition) => expect(ask(condition, { request: { mcp } })).toBe(true));

  it('is nothing for a tool that a config describes', () => {
    expect(ask('has(request.mcp)')).toBe(false);
    expect(decide(policy('deny', rule('reads', 'allow', 'when: request.mcp.read_only')))).toMatchObject({
      code: 'policy_denied',
      source: 'default',
    });
  });
});

describe('condition: what it reads', () => {
  it.each([
    ['tool == "crm.get_customer"'],
    ['agent.name.startsWith("support-")'],
    ['agent.id == "agt_00000000000000000000000001"'],
    ['agent.labels.team == "support"'],
    ['!has(agent.labels.tier)'],
    ['user.ref == null && session.ref == null'],
    ['!intent.signed'],
    ['mode == "gateway" && side_effect in ["read", "write"]'],
    ['now == timestamp("2026-10-01T12:00:00Z")'],
    ['now.getHours() == 12 && now.getHours("Europe/Vienna") == 14'],
    ['now - timestamp("2026-10-01T10:30:00Z") == duration("90m")'],
  ])('%s', (expression) => expect(ask(expression)).toBe(true));

  it('whom the agent acts for', () =>
    expect(ask('user.ref != null && user.ref.startsWith("u-")', { user: { ref: 'u-17' } })).toBe(true));
});

describe('condition: arguments as JSON says them', () => {
  it.each([
    ['args.n == 5 && type(args.n) == int', { n: 5 }],
    ['args.n == 5.5 && type(args.n) == double', { n: 5.5 }],
    ['args.n == 9007199254740991', { n: 9_007_199_254_740_991 }],
    ['args.n <= 5000 && args.n > -1.5', { n: 0 }],
    ['args.b == true', { b: true }],
    ['has(args.x) && args.x == null && "x" in args', { x: null }],
    ['!has(args.x) && !("x" in args)', {}],
    ['args["a key"].list[1].deep == "é😀"', { 'a key': { list: [0, { deep: 'é😀' }] } }],
    ['size(args.text) == 2 && args.text.size() == 2', { text: 'é😀' }],
    ['args.text.lowerAscii() == "abcÄ"', { text: 'aBCÄ' }],
    ['args.to.all(x, x.matches("@corp[.]com$"))', { to: ['a@corp.com', 'b@corp.com'] }],
    ['!args.to.all(x, x.matches("@corp[.]com$"))', { to: ['a@corp.com', 'b@evil.com'] }],
    ['args.to.exists_one(x, x == 2) && args.to.filter(x, x > 1) == [2, 3]', { to: [1, 2, 3] }],
    ['args.to.map(x, x * 2).size() == 1000', { to: Array<number>(1_000).fill(7) }],
    ['args.m.all(key, args.m[key] > 0)', { m: { a: 1, b: 2 } }],
    ['int("42") == 42 && double("1.5") == 1.5 && string(args.n) == "7"', { n: 7 }],
    ['{"eu": 10, "us": 20}[args.region] == 20', { region: 'us' }],
    ['args.a == args.b', { a: { x: [1, 2] }, b: { x: [1, 2] } }],
    ['"constructor" in args == false && !has(args.constructor)', {}],
  ] as const)('%s', (expression, args) => expect(askArgs(expression, args as unknown as JsonObject)).toBe(true));

  it('__proto__ is a member like any other', () =>
    expect(
      askArgs('has(args.__proto__) && args.__proto__.x == 1', JSON.parse('{"__proto__":{"x":1}}') as JsonObject),
    ).toBe(true));
});

describe('an evaluation that is surely short goes unwatched', () => {
  /** As many rules with this condition as stay below the bound; none applies, so all are judged. */
  const fullOf = (expression: string): CompiledPolicy => {
    const rules = (count: number): CompiledPolicy =>
      compiled(
        policy('deny', ...Array.from({ length: count }, (_, id) => rule(`r${id}`, 'allow', ...condition(expression)))),
      );
    const full = rules(Math.floor(UNWATCHED_STEPS_MAX / rules(1).cost));
    expect(full.cost).toBeGreaterThan(UNWATCHED_STEPS_MAX / 2);
    return full;
  };
  const text = (piece: string): string => piece.repeat(60_000);

  it.each<[string, string, JsonObject]>([
    ['lists', 'args.items.exists(x, x.size() > 9)', { items: Array<string>(UNWATCHED_VALUES_MAX - 10).fill('a') }],
    ['patterns', 'args.text.matches("(a|b|c|aa|bb)*d")', { text: 'ab'.repeat(4_000) }],
    ['texts', 'args.one.contains(args.other)', { one: text('ab'), other: `${text('ab')}c` }],
    [
      'trees',
      'args.one == args.other',
      { one: [...Array<number[]>(400).fill([1]), 1], other: Array<number[]>(401).fill([1]) },
    ],
    ['numbers', Array(15).fill('args.amount < 5000').join(' && ') + ' && args.amount > 5000', { amount: 1 }],
  ])('%s up to the bound end by themselves', (_, expression, args) => {
    // Watched here, with twenty times what the longest takes: `npm run bench` has the time itself.
    const full = { ...fullOf(expression), cost: Infinity };
    expect(evaluatePolicy(full, policyInput({ args }), { limitMs: 500 })).toMatchObject({ source: 'default' });
  });

  it('arguments of many values are watched whatever the policy', () => {
    const endless = compiled(policy('deny', rule('endless', 'allow', ...condition('args.amount > 1'))));
    const [only] = endless.rules;
    const forever = (): boolean => {
      for (;;);
    };
    const rules = [{ ...only!, when: { ...only!.when!, evaluate: forever } }];
    const items = Array<number>(UNWATCHED_VALUES_MAX).fill(1);
    expect(evaluatePolicy({ ...endless, rules }, policyInput({ args: { items } }))).toMatchObject({
      timeLimitTripped: true,
    });
  });
});

describe('the budgets that a call is charged to', () => {
  const source = policy(
    'deny',
    rule('no', 'deny', 'match:', '  tools:', '    - crm.remove'),
    rule('ask', 'require_approval', 'match:', '  tools:', '    - crm.update'),
    rule('one', 'allow'),
    `budgets:\n  - id: all\n    period: day\n    max_calls: 5\n`,
    `  - id: proxy\n    period: day\n    max_calls: 5\n    match:\n      mode: proxy\n`,
    `  - id: crm\n    period: month\n    max_calls: 5\n    match:\n      tools:\n        - crm.*\n`,
  );
  const idsOf = (over: Partial<PolicyInput>) => decide(source, over).budgets?.map(({ id }) => id);

  it('are those whose match takes it, in the order of the text', () => {
    expect(idsOf({ tool: 'crm.get', mode: 'gateway' })).toEqual(['all', 'crm']);
    expect(idsOf({ tool: 'mail.send', mode: 'proxy' })).toEqual(['all', 'proxy']);
  });

  it('are so for one that waits for a person, and none for one that is denied', () => {
    expect(idsOf({ tool: 'crm.update', mode: 'gateway' })).toEqual(['all', 'crm']);
    expect(idsOf({ tool: 'crm.remove', mode: 'gateway' })).toBeUndefined();
  });

  it('are found in the time of the decision: comparing them is part of its cost', () => {
    const globs = Array.from({ length: 40 }, (_, index) => `        - "*a*${index}*b*"\n`).join('');
    const budget = (id: number) =>
      `  - id: b${id}\n    period: day\n    max_calls: 1\n    match:\n      tools:\n${globs}`;
    const many = compiled(
      `version: 1\ndefault: allow\nbudgets:\n${Array.from({ length: 100 }, (_, id) => budget(id)).join('')}`,
    );
    expect(many.cost).toBeGreaterThan(UNWATCHED_STEPS_MAX);
  });
});
