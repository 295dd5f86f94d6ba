import type { DomainError } from '#libs/domain/kernel';
import { describe, expect, it } from 'vitest';
import { testId } from '../../../../test/support/given-log.js';
import { type FilterForm } from './filter-forms.js';
import { filtersIn, type ListName, type SentFilters } from './filters.js';
import { LIST_FILTERS } from './list-filters.js';

const agent = testId('agt', 1);

const actions = (sent: SentFilters<'listActions'>) => filtersIn('listActions', sent);

const refusal = <List extends ListName>(list: List, sent: SentFilters<List>): DomainError => {
  try {
    filtersIn(list, sent);
  } catch (error) {
    return error as DomainError;
  }
  return expect.fail(`${JSON.stringify(sent)} was accepted`);
};

describe('the filters of lists', () => {
  it('do not filter if nothing was sent', () => {
    for (const list of Object.keys(LIST_FILTERS) as ListName[]) {
      const withoutDefault = Object.entries<FilterForm>(LIST_FILTERS[list]).filter(([, form]) => !('default' in form));
      expect(filtersIn(list, {})).toMatchObject(Object.fromEntries(withoutDefault.map(([name]) => [name, null])));
    }
    expect(filtersIn('listDeeds', {}).order).toBe('asc');
    expect(filtersIn('listApprovals', {}).status).toEqual(['pending']);
  });

  it('take every filter there is', () => {
    expect(
      actions({
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
      state: ['pending_approval', 'executing', 'witnessing', 'recorded', 'sealed'],
      decision: ['allow', 'deny', 'require_approval'],
      rule_id: 'read-crm',
      execution: ['succeeded', 'failed', 'unknown'],
      verdict: ['VERIFIED', 'MISMATCH', 'UNVERIFIABLE'],
      level: ['L0', 'L1', 'L2'],
      on_behalf_of: 'user_42',
      session: 'chat:7',
      'created_at[gte]': '2026-10-01T00:00:00.000Z',
      'created_at[lt]': '2026-10-02T00:00:00.500Z',
      q: 'refund',
      shadow_differs: true,
    });
  });

  it.each<SentFilters<'listActions'>>([
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
    const error = refusal('listActions', sent);
    expect([error.code, error.param]).toEqual(['validation_failed', Object.keys(sent)[0]]);
  });

  it('take a key by its id or its prefix', () => {
    const [id, prefix] = [testId('key', 1), 'k3y9prf0'];
    expect(actions({ key: id }).key).toEqual({ id });
    for (const key of ['k3y9prf0', 'svc_live_k3y9prf0', 'svc_test_k3y9prf0']) {
      expect(actions({ key }).key).toEqual({ prefix });
    }
  });

  it('refuse a key with its secret, and do not repeat the secret', () => {
    const { code, param, message } = refusal('listActions', { key: `svc_live_k3y9prf0_${'0'.repeat(32)}` });
    expect([code, param]).toEqual(['validation_failed', 'key']);
    expect(message).toContain('must leave out the secret');
    expect(message).not.toContain('k3y9prf0');
  });

  it.each<SentFilters<'listActions'>>([
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
    expect(() => actions(sent)).not.toThrow();
  });

  it('take a repeated value once', () => {
    expect(actions({ state: 'sealed,sealed' }).state).toEqual(['sealed']);
  });

  it('round finer instants up to the next millisecond, which is the same bound for stored times', () => {
    expect(actions({ 'created_at[gte]': '2026-10-01T00:00:00.0001Z' })['created_at[gte]']).toBe(
      '2026-10-01T00:00:00.001Z',
    );
    expect(actions({ 'created_at[gte]': '2026-10-01T00:00:00.123000Z' })['created_at[gte]']).toBe(
      '2026-10-01T00:00:00.123Z',
    );
  });

  it('take kinds, an action, ranges and an order of deeds', () => {
    const action = testId('act', 1);
    const times = { 'issued_at[gte]': '2026-10-01T00:00:00Z', 'issued_at[lt]': '2026-10-02T00:00:00Z' };
    const seqs = { 'seq[gte]': 4, 'seq[lt]': 7 };
    expect(filtersIn('listDeeds', { kind: 'action,admin', action, ...times, ...seqs, order: 'desc' })).toEqual({
      kind: ['action', 'admin'],
      action,
      'issued_at[gte]': '2026-10-01T00:00:00.000Z',
      'issued_at[lt]': '2026-10-02T00:00:00.000Z',
      ...seqs,
      order: 'desc',
    });
  });

  it.each<SentFilters<'listDeeds'>>([
    { kind: '' },
    { kind: 'actions' },
    { action: 'act_1' },
    { action: testId('deed', 1) },
    { 'issued_at[gte]': 'yesterday' },
    { 'issued_at[lt]': '2026-10-02' },
    { order: 'ASC' },
    { order: '' },
  ])('refuse %j of deeds and name it', (sent) => {
    const { code, param } = refusal('listDeeds', sent);
    expect([code, param]).toEqual(['validation_failed', Object.keys(sent)[0]]);
  });

  it('take approvals of all statuses, of some, and no other', () => {
    expect(filtersIn('listApprovals', { status: 'all' }).status).toBeNull();
    expect(filtersIn('listApprovals', { status: 'denied,expired' }).status).toEqual(['denied', 'expired']);
    expect(refusal('listApprovals', { status: 'all,denied' }).param).toBe('status');
  });

  it('say what a single value must be', () => {
    expect(refusal('listDeeds', { order: 'up' }).message).toBe('The query parameter "order" must be asc or desc.');
    expect(refusal('listMembers', { status: 'gone' }).message).toBe(
      'The query parameter "status" must be one of invited, active, removed.',
    );
  });
});
