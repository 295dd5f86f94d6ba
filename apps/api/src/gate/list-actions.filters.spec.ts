import type { DomainError } from '#libs/domain/kernel';
import { describe, expect, it } from 'vitest';
import { testId } from '../../../../test/support/given-log.js';
import { type ActionFilterParameters, parseActionFilters } from './list-actions.filters.js';

const agent = testId('agt', 1);

const NOTHING = {
  agent: null,
  key: null,
  tool: null,
  states: null,
  decisions: null,
  ruleId: null,
  executions: null,
  verdicts: null,
  levels: null,
  onBehalfOf: null,
  session: null,
  createdFrom: null,
  createdBefore: null,
  text: null,
  isShadowDifferent: false,
};

const refusal = (sent: ActionFilterParameters): DomainError => {
  try {
    parseActionFilters(sent);
  } catch (error) {
    return error as DomainError;
  }
  return expect.fail(`${JSON.stringify(sent)} was accepted`);
};

describe('action filters', () => {
  it('do not filter if nothing was sent', () => {
    expect(parseActionFilters({})).toEqual(NOTHING);
  });

  it('take every filter there is', () => {
    expect(
      parseActionFilters({
        agent,
        key: 'svc_live_k3y9prf0',
        tool: 'crm.*',
        state: 'pending_approval,executing,witnessing,recorded,sealed',
        decision: 'allow,deny,require_approval',
        rule_id: 'read-crm',
        execution: 'succeeded,failed,unknown',
        verdict: 'VERIFIED,MISMATCH,UNVERIFIABLE',
        level: 'L0,L1,L2',
        on_behalf_of: 'user_42',
        session: 'chat:7',
        'created_at[gte]': '2026-10-01T00:00:00Z',
        'created_at[lt]': '2026-10-02T02:00:00.5+02:00',
        q: 'refund',
        shadow_differs: 'true',
      }),
    ).toEqual({
      agent,
      key: { prefix: 'k3y9prf0' },
      tool: 'crm.*',
      states: ['pending_approval', 'executing', 'witnessing', 'recorded', 'sealed'],
      decisions: ['allow', 'deny', 'require_approval'],
      ruleId: 'read-crm',
      executions: ['succeeded', 'failed', 'unknown'],
      verdicts: ['VERIFIED', 'MISMATCH', 'UNVERIFIABLE'],
      levels: ['L0', 'L1', 'L2'],
      onBehalfOf: 'user_42',
      session: 'chat:7',
      createdFrom: '2026-10-01T00:00:00.000Z',
      createdBefore: '2026-10-02T00:00:00.500Z',
      text: 'refund',
      isShadowDifferent: true,
    });
  });

  it.each<ActionFilterParameters>([
    { agent: '' },
    { agent: 'support' },
    { agent: testId('act', 1) },
    { agent: agent.toUpperCase() },
    { key: '' },
    { key: 'k3y9prf' },
    { key: 'K3Y9PRF0' },
    { key: 'svc_k3y9prf0' },
    { key: 'svc_live_k3y9prf0…' },
    { key: testId('agt', 1) },
    { tool: '' },
    { tool: 'a'.repeat(201) },
    { tool: 'é'.repeat(101) },
    { tool: 'a*a*a*a*' },
    { tool: '****' },
    { state: '' },
    { state: 'sealed,' },
    { state: 'Sealed' },
    { state: 'done' },
    { state: 'sealed, executing' },
    { decision: 'allowed' },
    { rule_id: '' },
    { rule_id: 'Read' },
    { rule_id: `r${'x'.repeat(64)}` },
    { execution: 'executed' },
    { execution: 'failed,' },
    { verdict: 'verified' },
    { verdict: 'VERIFIED,OTHER' },
    { level: 'L3' },
    { on_behalf_of: '' },
    { on_behalf_of: 'x'.repeat(257) },
    { on_behalf_of: 'user 42' },
    { on_behalf_of: 'üser' },
    { on_behalf_of: 'user\n' },
    { session: '' },
    { session: 'chat 7' },
    { session: 'x'.repeat(257) },
    { 'created_at[gte]': '' },
    { 'created_at[gte]': '2026-10-01' },
    { 'created_at[gte]': '1790000000' },
    { 'created_at[lt]': '2026-02-30T00:00:00Z' },
    { 'created_at[lt]': '2026-10-01T00:00:00' },
    { q: '' },
    { q: 'r' },
    { q: 'é' },
    { q: '😀' },
    { q: 'r'.repeat(65) },
    { shadow_differs: 'false' },
    { shadow_differs: '' },
    { shadow_differs: 'True' },
  ])('refuse %j and name it', (sent) => {
    const error = refusal(sent);
    expect([error.code, error.param]).toEqual(['validation_failed', Object.keys(sent)[0]]);
  });

  it('take a key by its id or its prefix', () => {
    const [id, prefix] = [testId('key', 1), 'k3y9prf0'];
    expect(parseActionFilters({ key: id }).key).toEqual({ id });
    for (const key of ['k3y9prf0', 'svc_live_k3y9prf0', 'svc_test_k3y9prf0']) {
      expect(parseActionFilters({ key }).key).toEqual({ prefix });
    }
  });

  it('refuse a key with its secret, and do not repeat the secret', () => {
    const { code, param, message } = refusal({ key: `svc_live_k3y9prf0_${'0'.repeat(32)}` });
    expect([code, param]).toEqual(['validation_failed', 'key']);
    expect(message).toContain('must leave out the secret');
    expect(message).not.toContain('k3y9prf0');
  });

  it.each<ActionFilterParameters>([
    { tool: 'a'.repeat(200) },
    { tool: 'é'.repeat(100) },
    { tool: '*a*a*' },
    { on_behalf_of: 'x'.repeat(256) },
    { on_behalf_of: 'user:42@crm/~a_b+c=-.' },
    { session: 'x'.repeat(256) },
    { rule_id: `r${'x'.repeat(63)}` },
    { q: 're' },
    { q: '😀😀' },
    { q: '😀'.repeat(64) },
    { q: '%_' },
  ])('take %j, at their limits', (sent) => {
    expect(() => parseActionFilters(sent)).not.toThrow();
  });

  it('take a repeated value once', () => {
    expect(parseActionFilters({ state: 'sealed,sealed' }).states).toEqual(['sealed']);
  });

  it('round finer instants up to the next millisecond, which is the same bound for stored times', () => {
    expect(parseActionFilters({ 'created_at[gte]': '2026-10-01T00:00:00.0001Z' }).createdFrom).toBe(
      '2026-10-01T00:00:00.001Z',
    );
    expect(parseActionFilters({ 'created_at[gte]': '2026-10-01T00:00:00.123000Z' }).createdFrom).toBe(
      '2026-10-01T00:00:00.123Z',
    );
  });
});
