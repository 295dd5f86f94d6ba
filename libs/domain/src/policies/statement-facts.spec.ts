import type { JsonObject } from '#libs/crypto';
import { describe, expect, it } from 'vitest';

import { policyInput } from '../../../../test/support/given-policy-input.js';
import { compilePolicy } from './compile-policy.js';
import { evaluatePolicy, type PolicyDecision } from './evaluate-policy.js';
import type { PolicyInput } from './policy-input.js';
import { readTrialInput } from './trial-input.js';

type Request = PolicyInput['request'];

const policy = (defaultOutcome: string, decision: string, condition: string): string =>
  `version: 1\ndefault: ${defaultOutcome}\nrules:\n  - id: asked\n    decision: ${decision}\n    when: |\n      ${condition}\n`;

// What is asked here is never about time.
const decide = (source: string, request: Request = {}): PolicyDecision => {
  const compiled = compilePolicy(source);
  if (!compiled.ok) throw new Error(compiled.diagnostics.map(({ message }) => message).join('\n'));
  return evaluatePolicy(compiled.policy, policyInput({ request }), { limitMs: 5_000 });
};

const ask = (condition: string, request: Request = {}): boolean =>
  decide(policy('deny', 'allow', condition), request).outcome === 'allow';

describe('decision: what a statement of SQL does', () => {
  const sql = {
    kind: 'delete' as const,
    tables: ['public.customers', 'public.orders'],
    statement_count: 1 as const,
    has_where: false,
    is_parameterized: true,
    functions: ['lower'],
  };

  it.each<[string, boolean]>([
    ['request.sql.kind == "delete" && !request.sql.has_where', true],
    ['request.sql.kind in ["update", "delete"]', true],
    ['request.sql.kind == "select"', false],
    ['request.sql.tables.all(t, t == "public.orders")', false],
    ['request.sql.tables.all(t, t in ["public.orders", "public.customers"])', true],
    ['request.sql.tables.exists(t, t.startsWith("public.cust"))', true],
    ['"lower" in request.sql.functions && size(request.sql.tables) == 2', true],
    ['request.sql.statement_count == 1 && request.sql.is_parameterized', true],
    ['has(request.sql) && !has(request.http) && !has(request.mcp)', true],
  ])('%s is %s', (condition, answer) => expect(ask(condition, { sql })).toBe(answer));

  it('is absent where the text is no statement: what allows by it does not apply, what denies refuses', () => {
    expect(decide(policy('deny', 'allow', 'request.sql.kind == "select"'))).toMatchObject({
      code: 'policy_denied',
      source: 'default',
    });
    expect(decide(policy('allow', 'deny', 'request.sql.kind == "delete"'))).toMatchObject({
      code: 'policy_unavailable',
      reason: 'evaluation error in rule asked: no request.sql',
    });
    expect(ask('has(request.sql)')).toBe(false);
  });
});

describe('a call that somebody describes', () => {
  const sql = { kind: 'select', tables: ['public.t'], has_where: false, is_parameterized: false, functions: [] };
  const read = (given: JsonObject) => readTrialInput({ tool: 'shop.query', request: { sql: { ...sql, ...given } } });

  it('may say what its statement does', () =>
    expect(read({})).toMatchObject({ request: { sql: { ...sql, statement_count: 1 } } }));
  it.each<[string, JsonObject]>([
    ['input.request.sql.kind', { kind: 'drop' }],
    ['input.request.sql.tables', { tables: 'public.t' }],
    ['input.request.sql.tables.0', { tables: [1] }],
    ['input.request.sql.statement_count', { statement_count: 2 }],
    ['input.request.sql.has_where', { has_where: 'no' }],
  ])('is told where it says it wrongly: %s', (path, given) => expect(read(given)).toMatchObject({ path }));
});
