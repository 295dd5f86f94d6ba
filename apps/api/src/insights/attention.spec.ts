import { describe, expect, it } from 'vitest';
import { CALLS } from '#libs/domain/gate';
import type { LivingOrganization } from '#libs/domain/people';
import { testId, TEST_ORG } from '../../../../test/support/given-log.js';
import { attentionOf, type AttentionSources } from './attention.js';

const calm = {
  organization: { org: TEST_ORG, status: 'started', stop: null } as unknown as LivingOrganization,
  ledger: { result: 'intact', reason: null, first_bad_seq: null },
  broken: null,
  unintroduced: [],
  unwitnessed: null,
  mismatches: [],
  expiring: [],
  copied: [],
  budgets: [],
  blind: [],
  disabled: [],
  failing: [],
  held: [],
} satisfies AttentionSources;
const at = '2026-10-01T09:00:00.000Z';
const mismatch = (number: number) => ({
  id: testId('act', number),
  tool: 'pay.refund',
  createdAt: at,
  folded: { witness: { summary: 'The read shows another amount.' } } as never,
});
const nearlyUsed = {
  charge: {
    budget: `${testId('pol', 1)}/daily`,
    unit: CALLS,
    amount: 1,
    limit: 10,
    period: { label: 'day:2026-10-01', startsMs: Date.parse('2026-10-01'), endsMs: Date.parse('2026-10-02') },
  },
  used: 9,
};
const expiring = { id: testId('apr', 1), action: testId('act', 9), tool: 'pay.refund', expiresAt: at };

describe('what needs attention', () => {
  it('is nothing where all is well, or nothing is known', () => {
    expect(attentionOf(calm)).toEqual([]);
    expect(attentionOf({ ...calm, ledger: { result: 'incomplete', reason: 'time_limit', first_bad_seq: 7 } })).toEqual(
      [],
    );
  });

  it('is a ledger that does not continue what was signed, before all but a broken chain', () => {
    const broken = { org: TEST_ORG, reason: 'shorter', size: 6, signedSize: 10, since: at } as const;
    expect(attentionOf({ ...calm, broken, mismatches: [mismatch(1)] })[0]).toEqual({
      ...{ kind: 'ledger_inconsistent', ids: [TEST_ORG], reason: 'shorter' },
      ...{ size: 6, signed_size: 10, since: at },
    });
  });

  it('is a witness that does not know the ledger, with the key that it needs, and deeds that nobody has cosigned', () => {
    const unintroduced = [{ name: 'partner', verifierKeys: ['governance.example/ledger/org_1+a+b'] }];
    const unwitnessed = { size: 3, sealed: 9, since: at };
    expect(attentionOf({ ...calm, unintroduced, unwitnessed })).toEqual([
      {
        ...{ kind: 'witness_unknown_log', ids: [TEST_ORG], witness: 'partner' },
        verifier_keys: ['governance.example/ledger/org_1+a+b'],
      },
      { kind: 'ledger_unwitnessed', ids: [TEST_ORG], size: 9, signed_size: 3, since: at },
    ]);
  });

  it('is told the most pressing kind first, with its data', () => {
    const by = { type: 'user', id: testId('usr', 1) } as const;
    const organization = { ...calm.organization, status: 'stopped', stop: { at, by } } as LivingOrganization;
    const ledger = { result: 'broken', reason: 'bad_signature', first_bad_seq: 7 } as never;
    expect(
      attentionOf({
        organization,
        ledger,
        broken: null,
        unintroduced: [],
        unwitnessed: null,
        mismatches: [mismatch(1)],
        expiring: [expiring],
        copied: [{ passkey: testId('pky', 1), user: testId('usr', 2), fellAt: at }],
        budgets: [nearlyUsed],
        blind: [],
        disabled: [],
        failing: [{ id: testId('con', 1), name: 'crm', testedAt: at }],
        held: [{ id: testId('con', 2), name: 'issues', tools: 2 }],
      }),
    ).toEqual([
      { kind: 'chain_broken', ids: [TEST_ORG], reason: 'bad_signature', first_bad_seq: 7 },
      { kind: 'org_stopped', ids: [TEST_ORG], stopped_at: at, stopped_by: by },
      {
        kind: 'mismatch',
        ids: [testId('act', 1)],
        tool: 'pay.refund',
        created_at: at,
        summary: 'The read shows another amount.',
      },
      { kind: 'approval_expiring', ids: [testId('apr', 1), testId('act', 9)], tool: 'pay.refund', expires_at: at },
      { kind: 'passkey_counter_fell', ids: [testId('pky', 1), testId('usr', 2)], fell_at: at },
      {
        kind: 'budget_near',
        ids: [testId('pol', 1)],
        budget: 'daily',
        currency: null,
        used: 9,
        limit: 10,
        resets_at: '2026-10-02T00:00:00.000Z',
      },
      { kind: 'connector_failing', ids: [testId('con', 1)], connector: 'crm', tested_at: at },
      { kind: 'tools_held', ids: [testId('con', 2)], connector: 'issues', tools: 2 },
    ]);
  });

  it('is a connector that the service disabled before one that fails its test', () => {
    const disabled = [{ id: testId('con', 6), name: 'pay', reason: 'livemode_detected', since: at }];
    const failing = [{ id: testId('con', 1), name: 'crm', testedAt: at }];
    expect(attentionOf({ ...calm, disabled, failing })).toEqual([
      {
        ...{ kind: 'connector_disabled', ids: [testId('con', 6)], connector: 'pay' },
        ...{ reason: 'livemode_detected', since: at },
      },
      { kind: 'connector_failing', ids: [testId('con', 1)], connector: 'crm', tested_at: at },
    ]);
  });

  it('is a change log that is lost or behind before what was found by others that are read', () => {
    const behind = { id: testId('con', 4), name: 'billing', reason: 'slot_lagging', lagBytes: 9, since: at };
    const lost = { id: testId('con', 3), name: 'ledger', reason: 'log_restored', lagBytes: null, since: at };
    const down = { id: testId('con', 5), name: 'stock', reason: 'decoder_down', lagBytes: null, since: at };
    const organization = { ...calm.organization, status: 'stopped' } as LivingOrganization;
    const blind = [
      { ...lost, status: 'invalidated' },
      { ...down, status: 'down' },
      { ...behind, status: 'degraded' },
    ] as const;
    const said = attentionOf({ ...calm, organization, blind, mismatches: [mismatch(1)] });
    const place = ({ id, name }: { readonly id: string; readonly name: string }) => ({ ids: [id], connector: name });
    expect(said.slice(1, -1)).toEqual([
      { kind: 'slot_invalidated', ...place(lost), reason: 'log_restored', lag_bytes: null, since: at },
      { kind: 'slot_lagging', ...place(down), reason: 'decoder_down', lag_bytes: null, since: at },
      { kind: 'slot_lagging', ...place(behind), reason: 'slot_lagging', lag_bytes: 9, since: at },
    ]);
    expect([said[0]?.['kind'], said.at(-1)?.['kind']]).toEqual(['org_stopped', 'mismatch']);
  });

  it('is eight things at most', () => {
    const mismatches = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(mismatch);
    const kinds = attentionOf({ ...calm, mismatches, expiring: [expiring] }).map(({ kind }) => kind);
    expect(kinds).toEqual(Array(8).fill('mismatch'));
  });
});
