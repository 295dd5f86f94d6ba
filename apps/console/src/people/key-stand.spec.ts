import { describe, expect, it } from 'vitest';
import { beginOf, isOver, standOfKey } from './key-stand.ts';

const NOW = Date.parse('2026-10-01T09:00:00.000Z');
const EARLIER = '2026-10-01T08:59:59.999Z';
const LATER = '2026-10-01T09:00:00.001Z';

describe('the state of a key', () => {
  it.each([
    [null, null, null, 'works', false],
    [LATER, null, null, 'works', false],
    [LATER, null, 'key_1', 'ends', false],
    [EARLIER, null, null, 'ended', true],
    ['2026-10-01T09:00:00.000Z', null, 'key_1', 'ended', true],
    [null, EARLIER, null, 'revoked', true],
    [LATER, EARLIER, 'key_1', 'revoked', true],
  ] as const)('ends at %j, revoked at %j, rolled to %j: %s', (expires, revoked, successor, stand, over) => {
    const found = standOfKey({ expires_at: expires, revoked_at: revoked, replaced_by: successor }, NOW);
    expect([found, isOver(found)]).toEqual([stand, over]);
  });
});

it('a key is named by its first characters', () => {
  expect([true, false].map((livemode) => beginOf({ livemode, prefix: '0hbm08ff' }))).toEqual([
    'svc_live_0hbm08ff',
    'svc_test_0hbm08ff',
  ]);
});
