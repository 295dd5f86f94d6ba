import { describe, expect, it } from 'vitest';
import type { Schemas } from '../kernel/client.ts';
import { quorumInWords, STANDINGS, withOneMore, without, withQuorum } from './witness-standing.ts';

const witness = (name: string) => ({ name, vkey: `${name}+key`, url: `https://${name}.example` });

const policyOf = (quorum: number, ...names: readonly string[]): Schemas['WitnessPolicy'] => ({
  object: 'witness_policy',
  quorum,
  witnesses: names.map((name) => ({
    ...witness(name),
    algorithm: 'ed25519',
    added_at: '2026-11-30T09:00:00.000Z',
    standing: { state: 'never_asked', size: null, at: null, detail: null, next_try_at: null },
  })),
  witnessed: null,
  updated_at: null,
});

describe('a policy of witnesses', () => {
  it('asks for one where its first witness is added', () => {
    expect(withOneMore(policyOf(0), witness('anna'))).toEqual({ quorum: 1, witnesses: [witness('anna')] });
    expect(withOneMore(policyOf(2, 'anna', 'ben'), witness('cleo')).quorum).toBe(2);
  });

  it('asks for no more witnesses than are left', () => {
    expect(without(policyOf(2, 'anna', 'ben'), 'anna')).toEqual({ quorum: 1, witnesses: [witness('ben')] });
    expect(without(policyOf(1, 'anna', 'ben'), 'ben')).toEqual({ quorum: 1, witnesses: [witness('anna')] });
    expect(without(policyOf(1, 'anna'), 'anna')).toEqual({ quorum: 0, witnesses: [] });
  });

  it('keeps its witnesses where another number of them is enough', () => {
    expect(withQuorum(policyOf(1, 'anna', 'ben'), 2)).toEqual({
      quorum: 2,
      witnesses: [witness('anna'), witness('ben')],
    });
  });

  it.each([
    [0, 0, 'No witness is asked.'],
    [1, 1, 'The one witness must cosign.'],
    [1, 3, '1 of 3 must cosign.'],
    [3, 3, 'All 3 witnesses must cosign.'],
  ])('says of %i of %i how many are enough', (quorum, witnesses, words) => {
    expect(quorumInWords(quorum, witnesses)).toBe(words);
  });

  it('says what to do wherever a person must, and nowhere else', () => {
    const asks = Object.entries(STANDINGS).filter(([, { next }]) => next !== null);
    expect(asks.map(([state]) => state)).toEqual(['unknown_log', 'disagrees', 'failing']);
  });
});
