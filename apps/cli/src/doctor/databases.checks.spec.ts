import { describe, expect, it } from 'vitest';
import type { DatabaseState } from '#libs/infra/diagnosis';
import { judgeDatabaseConnectors, judgeDecoderSlots, withoutLogicalLog } from './databases.checks.js';

const NOW_MS = 1_800_000_000_000;
const MIB = 1024 ** 2;

const decoder = (over: Partial<NonNullable<DatabaseState['decoder']>> = {}) => ({
  reason: null,
  lagBytes: 2 * MIB,
  seenMs: NOW_MS - 1_000,
  ...over,
});
const database = (over: Partial<DatabaseState> = {}): DatabaseState => ({
  name: 'shop',
  health: 'passing',
  failed: [],
  isWitnessed: true,
  decoder: decoder(),
  ...over,
});
const slots = (...databases: readonly DatabaseState[]) => judgeDecoderSlots(databases, NOW_MS);

describe('connectors to databases', () => {
  it('are well where there are none, or all were ready', () => {
    expect(judgeDatabaseConnectors([])).toMatchObject({ status: 'ok' });
    expect(judgeDatabaseConnectors([database(), database({ health: 'warnings' })])).toMatchObject({ status: 'ok' });
  });

  it('are a problem where one is not ready, with what its test said', () => {
    const failed = [{ check: 'agent_role', detail: 'The role x is a superuser.' }];
    expect(judgeDatabaseConnectors([database(), database({ name: 'crm', health: 'failing', failed })])).toEqual({
      status: 'problem',
      message: 'crm is not ready (crm: The role x is a superuser).',
      next: 'Run `npm run ags -- connectors test crm`, which says what to do.',
    });
  });

  it('are a warning where nobody has tested one', () => {
    expect(judgeDatabaseConnectors([database({ health: 'not_tested' })])).toMatchObject({
      status: 'warning',
      message: 'shop was not tested, or changed since.',
    });
  });
});

describe('slots of decoders', () => {
  it('are well where nothing is witnessed, or everything is followed, and say what they keep', () => {
    expect(slots(database({ isWitnessed: false, decoder: null }))).toMatchObject({ status: 'ok' });
    expect(slots(database())).toMatchObject({
      status: 'ok',
      message: 'Every change log that confirms calls is followed (shop, 2 MiB kept).',
    });
  });

  it.each(['slot_invalidated', 'log_restored'])('are a problem where one is lost: %s', (reason) => {
    expect(slots(database(), database({ name: 'crm', decoder: decoder({ reason }) }))).toMatchObject({
      status: 'problem',
      message: 'The slot of crm is lost: no change there is confirmed any more.',
    });
  });

  it('are a problem where a decoder that runs cannot read', () => {
    expect(slots(database({ decoder: decoder({ reason: 'decoder_down' }) }))).toMatchObject({ status: 'problem' });
  });

  it('are a warning where nobody reads one, as beside a service that is stopped', () => {
    const stopped = database({ decoder: decoder({ seenMs: NOW_MS - 61_000, lagBytes: 3 * 1024 * MIB }) });
    expect(slots(stopped, database({ name: 'new', decoder: null }))).toMatchObject({
      status: 'warning',
      message: 'Nobody follows the change log of shop, 3.0 GiB kept; new.',
    });
  });

  it.each([
    ['its decoder says so', { reason: 'slot_lagging' }],
    ['it keeps more than a GiB', { lagBytes: 1025 * MIB }],
  ])('are a warning where one is behind: %s', (_, over) => {
    expect(slots(database({ decoder: decoder(over) }))).toMatchObject({ status: 'warning' });
  });
});

describe('databases without a logical log', () => {
  it('are named by what their last test found', () => {
    const failed = [{ check: 'wal_level', detail: 'wal_level is replica.' }];
    expect(withoutLogicalLog([database(), database({ name: 'crm', failed })])).toBe('crm');
    expect(withoutLogicalLog([database()])).toBeNull();
  });
});
