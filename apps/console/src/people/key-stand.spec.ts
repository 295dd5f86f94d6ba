import { describe, expect, it } from 'vitest';
import { beginOf, isOver, standOfKey } from './key-stand.ts';

const NOW = Date.parse('2026-10-01T09:00:00.000Z');
const EARLIER = '2026-10-01T08:59:59.999Z';
const LATER = '2026-10-01T09:00:00.001Z';

describe('how a key stands', () => {
  it.each([
    [null, null, 'works', false],
    [LATER, null, 'ends', false],
    [EARLIER, null, 'ended', true],
    ['2026-10-01T09:00:00.000Z', null, 'ended', true],
    [null, EARLIER, 'revoked', true],
    [LATER, EARLIER, 'revoked', true],
  ] as const)('ends at %j, revoked at %j: %s', (expires, revoked, stand, over) => {
    const found = standOfKey({ expires_at: expires, revoked_at: revoked }, NOW);
    expect([found, isOver(found)]).toEqual([stand, over]);
  });
});

it('is named by how it begins', () => {
  expect([true, false].map((livemode) => beginOf({ livemode, prefix: '0hbm08ff' }))).toEqual([
    'svc_live_0hbm08ff',
    'svc_test_0hbm08ff',
  ]);
});
