import { describe, expect, it } from 'vitest';
import { after, givenFor, NOW } from '../../../../test/support/given.js';
import { checkpointKeyDecider, signingCheckpointKeys } from './checkpoint-key.decider.js';
import type { CheckpointKeyEvent } from './checkpoint-key.events.js';

const given = givenFor(checkpointKeyDecider);
const registered = (publicKey: string): CheckpointKeyEvent => ({
  type: 'CheckpointKeyRegistered',
  data: { public_key: publicKey, activated_at: NOW, at: NOW },
});
const retired = (publicKey: string, at: string): CheckpointKeyEvent => ({
  type: 'CheckpointKeyRetired',
  data: { public_key: publicKey, retired_at: at, at: NOW },
});
const register = (publicKey: string, othersRetireAt: string | null) =>
  ({ type: 'RegisterCheckpointKey', data: { publicKey, othersRetireAt } }) as const;

describe('a checkpoint key', () => {
  it('is made at the first need, and no second one by whoever needed it at the same time', () => {
    given().when(register('one', null)).then(registered('one'));
    given(registered('one')).when(register('two', null)).thenNothing();
  });

  it('is made anew where every other one has retired', () =>
    given(registered('one'), retired('one', after(-1)))
      .when(register('two', null))
      .then(registered('two')));

  it('is registered once', () =>
    given(registered('one'))
      .when(register('one', after(60_000)))
      .thenRefuses('conflict'));

  it('retires the others when it is rotated, those that retire already at their own time', () =>
    given(registered('old'), retired('old', after(5)), registered('one'))
      .when(register('two', after(60_000)))
      .then(registered('two'), retired('one', after(60_000))));

  it('signs until it retires, beside the one that follows', () => {
    const { state } = given(registered('one'), registered('two'), retired('one', after(1_000)));
    const signing = (ms: number) => signingCheckpointKeys(state, after(ms)).map(({ publicKey }) => publicKey);
    expect(signing(999)).toEqual(['one', 'two']);
    expect(signing(1_000)).toEqual(['two']);
    expect(signing(-600_000)).toEqual(['one', 'two']);
  });
});
