import { describe, expect, it } from 'vitest';
import { WITNESS_STATUS_VALUES } from '../kernel/contract.ts';
import { slotOf, witnessInWords } from './witness-words.ts';

const of = { name: 'shop', slot: 'ags_1' };
const SET_UP = 'npm run ags -- database setup-sql --connector shop';

describe('the state of a witness in words', () => {
  it.each(WITNESS_STATUS_VALUES)('says what %s means for calls', (status) =>
    expect(witnessInWords({ status, reason: null }, of).means).toMatch(/^[A-Z].*\.$/),
  );

  it.each(['degraded', 'down', 'invalidated'] as const)(
    'names the set-up as the next step where it is %s',
    (status) => {
      const { next, commands } = witnessInWords({ status, reason: null }, of);
      expect(next).not.toBeNull();
      expect(commands.at(-1)).toBe(SET_UP);
    },
  );

  it.each(['healthy', 'off'] as const)('asks for nothing where it is %s', (status) =>
    expect(witnessInWords({ status, reason: null }, of)).toMatchObject({ next: null, commands: [] }),
  );

  it('has a slot dropped that the database invalidated, before it is made anew', () =>
    expect(witnessInWords({ status: 'invalidated', reason: 'slot_invalidated' }, of).commands).toEqual([
      `select pg_drop_replication_slot('ags_1');`,
      SET_UP,
    ]));

  it('has no slot dropped that a restore took away', () =>
    expect(witnessInWords({ status: 'invalidated', reason: 'log_restored' }, of).commands).toEqual([SET_UP]));

  it('names a slot that was left behind', () =>
    expect(witnessInWords({ status: 'off', reason: 'slot_left' }, of).commands).toEqual([
      `select pg_drop_replication_slot('ags_1');`,
    ]));
});

it('a slot is named by the config, else after the id of its connector', () => {
  expect(slotOf('con_01h2', 'mine')).toBe('mine');
  expect(slotOf('con_01h2', undefined)).toBe('ags_01h2');
});
