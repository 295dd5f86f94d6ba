import { describe, expect, it } from 'vitest';
import type { LoggedEvent, Members } from '../evidence.js';
import { event, saidOf } from './given.js';

const DAY = { budget: 'pol_1/daily', period: 'day:2026-10-01', calls: 1, amount: null, currency: null, limit: 2 };
const MONEY = { ...DAY, calls: 0, amount: 70, currency: 'eur', limit: 100 };

const charged = (number: number, charges: readonly Members[], outcome = 'allow'): readonly LoggedEvent[] => [
  event(`action-act_${number}`, 'ActionSubmitted', { tool: 'crm.check' }),
  event(`action-act_${number}`, 'ActionDecided', { decision: { outcome }, charges }),
];
const finished = (number: number, data: Members): LoggedEvent =>
  event(`action-act_${number}`, 'ExecutionFinished', { attempt: 1, ...data });
const said = (...events: readonly (LoggedEvent | readonly LoggedEvent[])[]): readonly string[] =>
  saidOf('INV-11', { events: events.flat() });

describe('INV-11', () => {
  it('says nothing of calls that end at the limit, nor of what was given back', () => {
    expect(said(charged(1, [DAY]), charged(2, [DAY]))).toEqual([]);
    expect(
      said(charged(1, [DAY]), charged(2, [DAY]), charged(3, [DAY]), finished(3, { status: 'failed', attempt: 0 })),
    ).toEqual([]);
    const expired = event('action-act_3', 'ApprovalExpired', {});
    expect(said(charged(1, [DAY]), charged(2, [DAY]), charged(3, [DAY], 'require_approval'), expired)).toEqual([]);
    expect(said(charged(1, [MONEY]), charged(2, [MONEY]), finished(1, { status: 'failed' }))).toEqual([]);
    const [eur, usd] = [
      { amount: 30, currency: 'eur' },
      { amount: 900, currency: 'usd' },
    ];
    expect(said(charged(1, [MONEY]), charged(2, [MONEY]), finished(1, { status: 'succeeded', cost: eur }))).toEqual([]);
    expect(said(charged(1, [MONEY]), finished(1, { status: 'succeeded', cost: usd }))).toEqual([]);
  });

  it.each<[string, readonly (readonly LoggedEvent[])[], string]>([
    [
      'one call too many runs',
      [1, 2, 3].map((number) => charged(number, [DAY])),
      'calls allows 2, and 3 actions use up 3',
    ],
    [
      'one that may have run counts',
      [...[1, 2, 3].map((number) => charged(number, [DAY])), [finished(3, { status: 'unknown' })]],
      'use up 3',
    ],
    ['too much is spent', [charged(1, [MONEY]), charged(2, [MONEY])], 'eur allows 100, and 2 actions use up 140'],
    [
      'a call was not charged',
      [charged(1, [DAY]), charged(2, [])],
      '1 of 2 calls of crm.check were charged to no budget',
    ],
    ['a refused call holds something', [charged(1, [DAY], 'deny')], 'act_1 was refused and holds a budget'],
  ])('finds that %s', (_title, events, words) => {
    expect(said(...events)).toEqual([expect.stringContaining(words)]);
  });

  it('keeps the periods of a budget apart', () =>
    expect(said(...[1, 2, 3].map((number) => charged(number, [{ ...DAY, period: `day:${number}` }])))).toEqual([]));
});
