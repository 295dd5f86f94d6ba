import { actionMark } from '#libs/crypto';
import { describe, expect, it } from 'vitest';
import type { ConnectorId, OrgId } from '../kernel/index.js';
import { openMarkReader } from './mark-reading.js';

const KEY = new Uint8Array(32).fill(7);
const ACTION = 'act_00000000000000000000000001';
const connector = {
  org: 'org_00000000000000000000000001' as OrgId,
  id: 'con_00000000000000000000000001' as ConnectorId,
};
const reader = () => openMarkReader({ markKeyOf: () => Promise.resolve(new Uint8Array(KEY)) }, connector);
const mark = actionMark(KEY, { action: ACTION, attempt: 2, xid: 9 });

describe('a mark in a change log', () => {
  it('is read by the key of its connector', async () =>
    expect((await reader()).read(mark, 9)).toEqual({ action: ACTION, attempt: 2 }));

  it.each([
    ['of another transaction', mark, 10],
    ['of another key', actionMark(new Uint8Array(32), { action: ACTION, attempt: 2, xid: 9 }), 9],
    ['in another spelling', `${mark} `, 9],
    ['of nobody', 'hello', 9],
  ])('is none %s', async (_, text, xid) => expect((await reader()).read(text, xid)).toBeNull());

  it('is read by nobody whose key was zeroed', async () => {
    const zeroed = await reader();
    zeroed.destroy();
    expect(zeroed.read(mark, 9)).toBeNull();
  });
});
