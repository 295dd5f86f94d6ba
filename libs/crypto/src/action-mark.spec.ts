import { createHmac, randomBytes } from 'node:crypto';

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { actionMark, isMarkOf, MARK_MAX_BYTES, readActionMark, xidInLog } from './action-mark.js';
import { encodeId } from './ids.js';

const key = Buffer.alloc(32, 7);
const action = encodeId('act', Buffer.alloc(16, 1));
const other = encodeId('act', Buffer.alloc(16, 2));
const mark = actionMark(key, { action, attempt: 1, xid: 748 });
const read = (text: string) => {
  const found = readActionMark(text);
  if (found === null) throw new Error('it is no mark');
  return found;
};

describe('action mark', () => {
  it('is one canonical text, its MAC is over tag, action, attempt and transaction', () => {
    const mac = createHmac('sha256', key).update(`service/action-mark/v1\n${action}\n1\n748`).digest('hex');
    expect(mark).toBe(`{"action":"${action}","attempt":1,"mac":"${mac}","v":1}`);
    expect(readActionMark(mark)).toEqual({ action, attempt: 1, mac });
  });

  it('holds for the transaction that it was made for, whatever they are', () => {
    const marked = fc.record({
      action: fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => encodeId('act', bytes)),
      attempt: fc.integer({ min: 1, max: 999_999_999 }),
      xid: fc.integer({ min: 0, max: 0xffff_ffff }),
    });
    fc.assert(
      fc.property(marked, (said) => {
        const text = actionMark(key, said);
        return text.length <= MARK_MAX_BYTES && isMarkOf(key, read(text), said.xid);
      }),
    );
  });

  it('is not of another transaction: a mark that was read in the log is worth nothing in the next', () => {
    expect(isMarkOf(key, read(mark), 748)).toBe(true);
    expect(isMarkOf(key, read(mark), 749)).toBe(false);
  });

  it('is not of another action or attempt', () => {
    expect(isMarkOf(key, { ...read(mark), action: other }, 748)).toBe(false);
    expect(isMarkOf(key, { ...read(mark), attempt: 2 }, 748)).toBe(false);
    // The parts are not told apart by their length: 1, 1748 is not 11, 748.
    const eleventh = read(actionMark(key, { action, attempt: 11, xid: 748 }));
    expect(isMarkOf(key, { ...eleventh, attempt: 1 }, 1748)).toBe(false);
  });

  it('is not of another key', () => {
    expect(isMarkOf(randomBytes(32), read(mark), 748)).toBe(false);
  });

  it('is not of a changed or shorter MAC', () => {
    const { mac } = read(mark);
    expect(isMarkOf(key, { ...read(mark), mac: mac.replace(/.$/, (last) => (last === '0' ? '1' : '0')) }, 748)).toBe(
      false,
    );
    expect(isMarkOf(key, { ...read(mark), mac: mac.slice(2) }, 748)).toBe(false);
    expect(isMarkOf(key, { ...read(mark), mac: '' }, 748)).toBe(false);
  });

  it.each([
    ['a space', mark.replace(',', ', ')],
    ['another order', `{"attempt":1,"action":"${action}","mac":"${read(mark).mac}","v":1}`],
    ['one member more', mark.replace('"v":1', '"v":1,"w":1')],
    ['one member less', mark.replace(',"v":1', '')],
    ['a member twice', mark.replace('"attempt":1', '"attempt":1,"attempt":1')],
    ['an escaped letter', mark.replace('"action"', '"\\u0061ction"')],
    ['a number spelled another way', mark.replace('"attempt":1', '"attempt":1.0')],
    ['a leading zero', mark.replace('"attempt":1', '"attempt":01')],
    ['no attempt at all', mark.replace('"attempt":1', '"attempt":0')],
    ['a large attempt', mark.replace('"attempt":1', '"attempt":1000000000')],
    ['a MAC in capitals', mark.replace(/"mac":"[^"]+"/, (mac) => mac.toUpperCase().replace('MAC', 'mac'))],
    ['another version', mark.replace('"v":1', '"v":2')],
    ['another kind of id', mark.replace('act_', 'run_')],
    ['an id out of range', mark.replace('act_0', 'act_z')],
    ['a line feed behind it', `${mark}\n`],
    ['a byte order mark', `\uFEFF${mark}`],
    ['nothing', ''],
    ['a megabyte', mark + ' '.repeat(1_048_576)],
  ])('has no second spelling: %s', (_name, text) => {
    expect(text).not.toBe(mark);
    expect(readActionMark(text)).toBeNull();
  });

  it('is made for nothing that could not be read again', () => {
    expect(() => actionMark(key, { action: 'act_x', attempt: 1, xid: 1 })).toThrow(RangeError);
    expect(() => actionMark(key, { action, attempt: 0, xid: 1 })).toThrow(RangeError);
    expect(() => actionMark(key, { action, attempt: 1, xid: 2 ** 32 })).toThrow(RangeError);
    expect(() => actionMark(Buffer.alloc(16), { action, attempt: 1, xid: 1 })).toThrow(RangeError);
  });
});

describe('xidInLog', () => {
  it('is the id without its epoch', () => {
    expect(['748', '4294967295', '4294967296', '18446744073709551615'].map(xidInLog)).toEqual([
      748, 4_294_967_295, 0, 4_294_967_295,
    ]);
  });
});
