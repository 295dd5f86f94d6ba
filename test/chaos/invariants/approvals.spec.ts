import { describe, expect, it } from 'vitest';
import type { LoggedEvent, Members } from '../evidence.js';
import { ACTION, event, saidOf } from './given.js';

const STREAM = `action-${ACTION}`;
const [ANN, BEN] = ['usr_1', 'usr_2'];

const asked = (required: number, submitted: Members = {}): readonly LoggedEvent[] => [
  event(STREAM, 'ActionSubmitted', submitted),
  event(STREAM, 'ActionDecided', { decision: { outcome: 'require_approval' } }),
  event(STREAM, 'ApprovalRequested', { required }),
];
const signed = (by: string): LoggedEvent => event(STREAM, 'ApprovalCountersigned', { by });
const decided = (outcome: string): LoggedEvent => event(STREAM, 'ApprovalDecided', { outcome });
const expired = event(STREAM, 'ApprovalExpired', {});
const ready = event(STREAM, 'ExecutionReady', {});
const said = (...events: readonly LoggedEvent[]): readonly string[] => saidOf('INV-13', { events });

describe('INV-13', () => {
  it('says nothing of an approval that two people gave, nor of one that is open, denied or expired', () => {
    expect(said(...asked(2), signed(ANN), signed(BEN), decided('approved'), ready)).toEqual([]);
    expect(said(...asked(2), signed(ANN))).toEqual([]);
    expect(said(...asked(1), decided('denied'))).toEqual([]);
    expect(said(...asked(1), expired)).toEqual([]);
  });

  it.each<[string, readonly LoggedEvent[], string]>([
    ['nobody was asked', asked(1).slice(0, 2), 'and nobody was asked'],
    [
      'it ended twice',
      [...asked(1), signed(ANN), decided('approved'), expired],
      'ended 2 times: approved, ApprovalExpired',
    ],
    ['it ran without a yes', [...asked(1), ready], 'ExecutionReady, and no person approved it'],
    ['it ran before the yes', [...asked(1), ready, signed(ANN), decided('approved')], 'before a person approved it'],
    [
      'it ran at the edge after a no',
      [...asked(1), decided('denied'), event(STREAM, 'EdgeAuthorized', {})],
      'EdgeAuthorized',
    ],
    [
      'a signature is missing',
      [...asked(2), signed(ANN), decided('approved')],
      'needs 2 signatures and was approved by 1',
    ],
    ['one person signed twice', [...asked(2), signed(ANN), signed(ANN), decided('approved')], 'was approved by 1'],
    [
      'it was their own',
      [...asked(1, { on_behalf_of: ANN }), signed(ANN), decided('approved')],
      'whose own signature counts',
    ],
  ])('finds that %s', (_title, events, words) => {
    expect(said(...events)).toEqual([expect.stringContaining(words)]);
  });

  it('finds a call that reached its tool and was never approved', () => {
    const upstream = [{ action: ACTION, effect: 'e', repeatKey: null, isApplied: true, answered: 200 }];
    expect(saidOf('INV-13', { events: asked(1), upstream })).toEqual([expect.stringContaining('reached the upstream')]);
  });

  it('finds a request for an approval that the decision does not ask for', () => {
    const allowed = event(STREAM, 'ActionDecided', { decision: { outcome: 'allow' } });
    const events = [event(STREAM, 'ActionSubmitted', {}), allowed, event(STREAM, 'ApprovalRequested', { required: 1 })];
    expect(said(...events)).toEqual([expect.stringContaining('does not require')]);
  });
});
