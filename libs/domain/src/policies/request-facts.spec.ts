import type { JsonObject } from '#libs/crypto';
import { describe, expect, it } from 'vitest';

import { policyInput } from '../../../../test/support/given-policy-input.js';
import { compilePolicy } from './compile-policy.js';
import { evaluatePolicy, type PolicyDecision } from './evaluate-policy.js';
import type { PolicyInput } from './policy-input.js';
import { POLICY_LANGUAGE } from './policy-language.js';
import { readTrialInput } from './trial-input.js';

type Request = PolicyInput['request'];
interface Fact {
  readonly path: string;
  readonly presence: string;
  readonly connector_types: readonly string[];
}

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

const PAYMENTS = {
  enriched: true,
  charge: 'ch_1',
  payment_intent: 'pi_1',
  customer: 'cus_1',
  currency: 'eur',
  charge_amount: 12_000,
  amount_refunded: 2_000,
  refundable: 10_000,
  disputed: false,
  charge_age_days: 3,
  amount_display: '100.00 EUR',
  subscription: 'sub_1',
  status: 'active',
  current_period_end: '2026-12-01T00:00:00.000Z',
  amount_per_period: 500,
  interval: 'month',
};

describe('decision: what a payments processor says', () => {
  it.each<[string, boolean]>([
    ['has(request.payments) && request.payments.enriched && !has(request.sql) && !has(request.http)', true],
    ['has(request.payments) && request.payments.disputed == false && request.payments.refundable >= 10000', true],
    [
      'request.payments.currency == "eur" && request.payments.charge_amount - request.payments.amount_refunded == 10000',
      true,
    ],
    ['request.payments.charge_age_days != null && request.payments.charge_age_days <= 2', false],
  ])('%s is %s', (condition, answer) => expect(ask(condition, { payments: PAYMENTS })).toBe(answer));

  it('is null where the processor could not be read: no comparison with it holds', () => {
    const payments = { ...PAYMENTS, enriched: false, disputed: null, charge_age_days: null };
    expect(ask('request.payments.disputed == false', { payments })).toBe(false);
    expect(ask('request.payments.charge_age_days == null && !request.payments.enriched', { payments })).toBe(true);
  });
});

describe('a fact that the language names', () => {
  const http = { method: 'GET', path: '/', host: 'api.example.com' };
  const hints = { read_only: true, destructive: false, idempotent: true, open_world: false };
  const mcp = { protocol: '2026-07-28', definition: 'sha256:1', ...hints };
  const shape = { statement_count: 1 as const, has_where: false, is_parameterized: false, functions: [] };
  const sql = { kind: 'select' as const, tables: ['public.t'], ...shape };
  const REQUESTS: Readonly<Record<string, Request>> = {
    ...{ rest: { http }, code_host: { http }, mcp_http: { mcp }, database: { sql } },
    payments: { http, payments: PAYMENTS },
  };
  const { facts } = POLICY_LANGUAGE as unknown as { readonly facts: readonly Fact[] };
  const optional = facts.filter(({ presence }) => presence === 'optional');

  it.each(optional)('$path reaches a condition where its connector supplies it', ({ path, connector_types: types }) => {
    for (const type of types) expect(ask(`has(${path})`, REQUESTS[type])).toBe(true);
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

  const paid = (given: JsonObject) => readTrialInput({ tool: 'pay.create_refund', request: given });
  it('may say what a payments processor would, and what it would cost', () => {
    const cost = { amount: 2_000, currency: 'eur' };
    expect(paid({ payments: PAYMENTS, cost })).toMatchObject({ request: { payments: PAYMENTS, cost } });
    const unread = Object.fromEntries(Object.keys(PAYMENTS).map((name) => [name, null]));
    expect(paid({ payments: { enriched: false } })).toMatchObject({
      request: { payments: { ...unread, enriched: false } },
    });
  });
  it.each<[string, JsonObject]>([
    ['input.request.payments.enriched', { payments: {} }],
    ['input.request.payments.disputed', { payments: { enriched: true, disputed: 'no' } }],
    ['input.request.payments.refundable', { payments: { enriched: true, refundable: 1.5 } }],
    ['input.request.payments.refund', { payments: { enriched: true, refund: 1 } }],
    ['input.request.cost.amount', { cost: { amount: -1, currency: 'eur' } }],
    ['input.request.cost.currency', { cost: { amount: 1, currency: 'EUR' } }],
  ])('is told where it says it wrongly: %s', (path, given) => expect(paid(given)).toMatchObject({ path }));
});
