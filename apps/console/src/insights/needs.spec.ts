import { describe, expect, it } from 'vitest';
import { type Need, needsOf, type Waiting } from './needs.ts';

const NOW = Date.parse('2026-11-27T20:00:00.000Z');
const inMinutes = (minutes: number): string => new Date(NOW + minutes * 60_000).toISOString();
const waits = (id: string, minutes: number) =>
  ({ id, tool: 'pay.create_refund', agent: { id: 'agt_1', name: 'bot' }, expires_at: inMinutes(minutes) }) as const;
const page = (...data: Waiting['data']): Waiting => ({ data, has_more: false });
const mismatch = (id: string, tool: string, summary = 'It shows another price.') => ({
  kind: 'mismatch' as const,
  ids: [id],
  tool,
  summary,
});

const calm = { attention: [], pending: 0 };
const shown = (needs: readonly Need[] | null) => needs?.map(({ is }) => is);

describe('what needs a person', () => {
  it('is empty only if the overview and the rail agree', () => {
    expect(needsOf(calm, page(), NOW)).toEqual([]);
    expect(needsOf(calm, null, NOW)).toBeNull();
    expect(needsOf({ ...calm, pending: 1 }, page(), NOW)).toBeNull();
    expect(shown(needsOf(calm, page(waits('apr_1', 90)), NOW))).toEqual(['waiting']);
  });

  it('is in order of urgency: expiring approvals before mismatches', () => {
    const attention: Parameters<typeof needsOf>[0]['attention'] = [
      { kind: 'org_stopped', ids: [] },
      mismatch('act_1', 'shop.set_price'),
      { kind: 'approval_expiring', ids: ['apr_9'] },
      { kind: 'tools_held', ids: ['con_1'], connector: 'issues', tools: 2 },
      { kind: 'budget_near', ids: [] },
    ];
    const needs = needsOf(
      { attention, pending: 3 },
      page(waits('apr_3', 400), waits('apr_2', 20), waits('apr_1', 5)),
      NOW,
    );
    expect(shown(needs)).toEqual(['told', 'expiring', 'expiring', 'waiting', 'mismatches', 'told', 'told']);
    expect(needs?.flatMap((need) => (need.is === 'told' ? need.item.kind : []))).toEqual([
      'org_stopped',
      'tools_held',
      'budget_near',
    ]);
    expect(needs?.flatMap((need) => (need.is === 'expiring' ? need.approval.id : []))).toEqual(['apr_1', 'apr_2']);
  });

  it('puts a change log that is lost before all approvals, and one that is behind right after them', () => {
    const attention: Parameters<typeof needsOf>[0]['attention'] = [
      { kind: 'slot_invalidated', ids: ['con_1'], connector: 'shop', reason: 'log_restored' },
      { kind: 'slot_lagging', ids: ['con_2'], connector: 'crm', reason: 'decoder_down' },
      mismatch('act_1', 'shop.set_price'),
    ];
    const needs = needsOf({ attention, pending: 1 }, page(waits('apr_1', 5)), NOW);
    expect(needs?.map((need) => (need.is === 'told' ? need.item.kind : need.is))).toEqual([
      'slot_invalidated',
      'expiring',
      'slot_lagging',
      'mismatches',
    ]);
  });

  it('puts a passkey that may have been copied before what only fails', () => {
    const attention: Parameters<typeof needsOf>[0]['attention'] = [
      { kind: 'connector_failing', ids: ['con_1'], connector: 'crm' },
      { kind: 'budget_near', ids: [] },
      { kind: 'passkey_counter_fell', ids: ['pky_1', 'usr_1'] },
      mismatch('act_1', 'shop.set_price'),
    ];
    const needs = needsOf({ ...calm, attention }, page(), NOW);
    expect(needs?.map((need) => (need.is === 'told' ? need.item.kind : need.is)).slice(0, 2)).toEqual([
      'mismatches',
      'passkey_counter_fell',
    ]);
  });

  it('counts waiting approvals as the rail does, and says when the first expires', () => {
    expect(needsOf(calm, page(waits('apr_2', 400), waits('apr_1', 90)), NOW)).toEqual([
      { is: 'waiting', count: '2', isOne: false, firstEndsAt: inMinutes(90), to: '/approvals' },
    ]);
    expect(needsOf(calm, page(waits('apr_1', 90)), NOW)).toEqual([
      { is: 'waiting', count: '1', isOne: true, firstEndsAt: inMinutes(90), to: '/approvals/apr_1' },
    ]);
  });

  it('groups the mismatches of one tool with the same summary', () => {
    const attention: Parameters<typeof needsOf>[0]['attention'] = [
      mismatch('act_3', 'shop.set_price'),
      mismatch('act_2', 'shop.set_price', 'It shows another currency.'),
      mismatch('act_1', 'shop.set_price'),
    ];
    expect(needsOf({ ...calm, attention }, page(), NOW)).toEqual([
      { is: 'mismatches', items: [attention[0], attention[2]] },
      { is: 'mismatches', items: [attention[1]] },
    ]);
  });
});
