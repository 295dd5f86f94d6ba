import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { sha256Hex } from './digest.js';
import { deriveDeedId, encodeId, isId } from './ids.js';

describe('ids', () => {
  it.each([
    ['00'.repeat(16), 'act_00000000000000000000000000'],
    ['ff'.repeat(16), 'act_7zzzzzzzzzzzzzzzzzzzzzzzzz'],
    ['00'.repeat(15) + '20', 'act_00000000000000000000000010'],
  ])('%s is %s', (hex, id) => {
    expect(encodeId('act', Buffer.from(hex, 'hex'))).toBe(id);
  });

  it('made of any 16 bytes have one form, and one text for each value (rule FORM-1; property)', () => {
    const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 });
    fc.assert(
      fc.property(bytes, bytes, (one, other) => {
        expect(isId('org', encodeId('org', one))).toBe(true);
        expect(encodeId('org', one) === encodeId('org', other)).toBe(Buffer.compare(one, other) === 0);
      }),
    );
  });

  it.each([
    'org_80000000000000000000000000',
    'org_0000000000000000000000000',
    'org_000000000000000000000000000',
    'org_0000000000000000000000000I',
    'org_0000000000000000000000000u',
    'org_00000000000000000000000000\n',
    'act_00000000000000000000000000',
    'org00000000000000000000000000',
  ])('%j is no organization id', (text) => {
    expect(isId('org', text)).toBe(false);
  });

  it('are made of exactly 16 bytes', () => {
    expect(() => encodeId('act', new Uint8Array(15))).toThrow(RangeError);
  });

  it('of a deed follow from the organization and the event it seals', () => {
    const org = 'org_00000000000000000000000000';
    const event = '018f3b1e-7d4a-7c3a-9b1e-5f0c2d4e6a8b';
    const hash = sha256Hex(`service/deed-id/v1\n${org}\n${event}`);
    expect(deriveDeedId(org, event)).toBe(encodeId('deed', Buffer.from(hash.slice(0, 32), 'hex')));
    expect(deriveDeedId(org, `${event}x`)).not.toBe(deriveDeedId(org, event));
  });
});
