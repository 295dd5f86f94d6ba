import { describe, expect, it } from 'vitest';
import type { ClientCall, Evidence, UpstreamRequest } from '../evidence.js';
import { ACTION, answered, event, saidOf } from './given.js';

const TOOL = 'crm.add_note';
const STREAM = `action-${ACTION}`;
const NAMED = { json: { object: 'action', id: ACTION } };

const sent = (status: number | null, isApplied: boolean): UpstreamRequest => ({
  action: ACTION,
  effect: 'effect-1',
  repeatKey: null,
  isApplied,
  answered: status,
});

const submission = (number: number, isUnderFault: boolean, isNamed = true): ClientCall => ({
  ...answered(isNamed ? NAMED : {}),
  ...(isNamed ? {} : { answer: null }),
  number,
  idempotencyKey: 'key-1',
  isUnderFault,
});

const called = (
  status: string,
  upstream: readonly UpstreamRequest[],
  calls: readonly ClientCall[] = [submission(1, false)],
): Partial<Evidence> => ({
  events: [
    event(STREAM, 'ActionSubmitted', { tool: TOOL }),
    event(STREAM, 'ActionDecided', { decision: { outcome: 'allow' } }),
    event(STREAM, 'ExecutionFinished', { status }),
  ],
  upstream,
  calls,
});

const readBack = (verdict: string, upstream: readonly UpstreamRequest[]): Partial<Evidence> => {
  const evidence = called('unknown', upstream, [submission(1, true)]);
  return {
    ...evidence,
    events: [...(evidence.events ?? []), event(STREAM, 'ActionWitnessed', { level: 'L1', verdict })],
  };
};

describe('INV-03, of what was read back', () => {
  it.each([
    ['VERIFIED', false, 0],
    ['MISMATCH', true, 1],
  ])('as %s', (verdict, isApplied, applied) => {
    expect(saidOf('INV-03', readBack(verdict, [sent(null, isApplied)]))).toEqual([
      `${ACTION} (${TOOL}) was read back as ${verdict}, and the upstream applied ${applied}`,
    ]);
  });

  it.each([
    ['VERIFIED', true],
    ['UNVERIFIABLE', true],
    ['UNVERIFIABLE', false],
  ])('nothing of what is %s as it is there, or cannot be read', (verdict, isApplied) => {
    expect(saidOf('INV-03', readBack(verdict, [sent(null, isApplied)]))).toEqual([]);
  });
});

describe('INV-03, while nothing is wrong', () => {
  it.each([
    ['unknown', 200, true],
    ['failed', 200, false],
    ['unknown', 409, false],
  ])('of what is called %s and was answered with %i', (status, answer, isApplied) => {
    expect(saidOf('INV-03', called(status, [sent(answer, isApplied)]))).toEqual([
      `${ACTION} (${TOOL}) was answered with ${answer} while nothing was wrong, and is called ${status}`,
    ]);
  });

  it('of an outcome of what was never sent', () => {
    expect(saidOf('INV-03', called('unknown', []))).toEqual([
      `${ACTION} (${TOOL}) is called unknown and was never sent, while nothing was wrong`,
    ]);
  });

  it.each([
    ['succeeded', [sent(200, true)]],
    ['failed', [sent(409, false)]],
    ['unknown', [sent(503, true)]],
    ['unknown', [sent(null, false)]],
    ['succeeded', [sent(503, false), sent(200, true)]],
    ['unknown', [sent(503, true), sent(409, false)]],
  ])('nothing of what is called %s as its last answer has it, or as nobody can know', (status, upstream) => {
    expect(saidOf('INV-03', called(status, upstream))).toEqual([]);
  });

  it('nothing of what may have begun under a fault, or met a later one', () => {
    const ofAnEarlierOne = [submission(1, true, false), submission(2, false)];
    expect(saidOf('INV-03', called('unknown', [sent(200, true)], ofAnEarlierOne))).toEqual([]);
    const ofALaterOne = [submission(1, false), { ...answered({}), number: 2 }];
    expect(saidOf('INV-03', called('unknown', [], ofALaterOne))).toEqual([]);
  });

  it('nothing of what no submission named', () => {
    expect(saidOf('INV-03', called('unknown', [], []))).toEqual([]);
  });
});
