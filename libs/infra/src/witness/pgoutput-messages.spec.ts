import { describe, expect, it } from 'vitest';
import { KeptValues, ROWS_BYTES_MAX, VALUE_BYTES_MAX } from './kept-values.js';
import { TransactionAssembler } from './transaction-assembler.js';

const u16 = (value: number) => Buffer.from([value >> 8, value & 0xff]);
const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const u64 = (value: bigint) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
};
const name = (text: string) => Buffer.from(`${text}\0`);
const message = (tag: string, ...parts: readonly Uint8Array[]) => Buffer.concat([Buffer.from(tag), ...parts]);
const text = (value: string) => Buffer.concat([Buffer.from('t'), u32(Buffer.byteLength(value)), Buffer.from(value)]);

const begin = message('B', u64(0x10n), u64(0n), u32(0xffff_fffe));
const relation = message(
  'R',
  u32(7),
  name('public'),
  name('t'),
  Buffer.from('d'),
  u16(1),
  Buffer.of(1),
  name('id'),
  u32(25),
  u32(0),
);
const insert = message('I', u32(7), Buffer.from('N'), u16(1), text('v'));
const commit = message('C', Buffer.of(0), u64(0x10n), u64(0x20n), u64(1_500n));

const takeAll = (...messages: readonly Buffer[]) => {
  const assembler = new TransactionAssembler();
  return messages.map((bytes) => assembler.take(bytes)).at(-1);
};

describe('messages of pgoutput', () => {
  it('give a transaction, its number without sign', () => {
    expect(takeAll(begin, relation, insert, commit)?.seen).toMatchObject({
      xid: 4_294_967_294,
      commit_lsn: '0/10',
      end_lsn: '0/20',
      committed_at: '2000-01-01T00:00:00.001Z',
      rows: [{ columns: [{ name: 'id', type: '25' }], new: [{ text: 'v' }] }],
    });
  });

  it.each<[string, readonly Buffer[]]>([
    ['a change of a table that was never described', [begin, insert]],
    ['a change outside of a transaction', [relation, insert]],
    ['a commit of none', [commit]],
    ['a beginning within another', [begin, begin]],
    ['a message of a streamed transaction', [message('S', u32(1), Buffer.of(1))]],
    ['a prepared transaction', [message('b', u64(1n))]],
    ['an empty message', [Buffer.alloc(0)]],
    [
      'a row with a column too many',
      [begin, relation, message('I', u32(7), Buffer.from('N'), u16(2), text('v'), text('w'))],
    ],
    [
      'a value that is longer than its message',
      [begin, relation, message('I', u32(7), Buffer.from('Nxx'), u16(1), u32(9999))],
    ],
    [
      'a length that says 4 GiB',
      [begin, relation, message('I', u32(7), Buffer.from('N'), u16(1), Buffer.from('t'), u32(0xffff_ffff))],
    ],
    ['a binary value', [begin, relation, message('I', u32(7), Buffer.from('N'), u16(1), Buffer.from('b'), u32(0))]],
    ['a deleted row without an old one', [begin, relation, message('D', u32(7), Buffer.from('N'), u16(1), text('v'))]],
    ['a name without end', [message('R', u32(7), Buffer.from('public'))]],
    ['an identity of another kind', [message('R', u32(7), name('s'), name('t'), Buffer.from('z'), u16(0))]],
  ])('are refused as malformed: %s', (_title, messages) => {
    expect(() => takeAll(...messages)).toThrow(expect.objectContaining({ reason: 'malformed' }));
  });

  it('are refused cut at any byte, or passed over where the cut part says nothing', () => {
    for (const whole of [begin, relation, insert, commit]) {
      for (let length = 0; length < whole.byteLength; length += 1) {
        const before = whole === begin || whole === relation ? [] : [begin, relation];
        expect(() => takeAll(...before, whole.subarray(0, length))).toThrow(
          expect.objectContaining({ reason: 'malformed' }),
        );
      }
    }
  });

  it('may be written over once they were taken', () => {
    const assembler = new TransactionAssembler();
    const taken = [begin, relation, insert].map((bytes) => Buffer.from(bytes));
    for (const bytes of taken) {
      assembler.take(bytes);
      bytes.fill(0x21);
    }
    expect(assembler.take(commit)?.seen.rows[0]?.new).toEqual([{ text: 'v' }]);
  });
});

describe('kept values', () => {
  it('end together at a bound of the transaction, behind it only length and digest are kept', () => {
    const values = new KeptValues();
    const long = Buffer.alloc(VALUE_BYTES_MAX, 'a');
    for (let count = 0; count < ROWS_BYTES_MAX / VALUE_BYTES_MAX; count += 1)
      expect(values.keep(long)).not.toHaveProperty('whole');
    expect(values.keep(Buffer.from('one more'))).toMatchObject({ text: '', whole: { bytes: 8 } });
    expect(values.keep(Buffer.alloc(0))).toEqual({ text: '' });
    expect(values.bytes).toBe(ROWS_BYTES_MAX);
  });

  it.each([
    ['é', 2],
    ['€', 3],
    ['🤝', 4],
  ])('are never cut within a character: %s', (character, width) => {
    for (let offset = 0; offset < width; offset += 1) {
      const value = 'x'.repeat(VALUE_BYTES_MAX - offset) + character.repeat(4);
      const kept = new KeptValues().keep(Buffer.from(value));
      expect(kept).toMatchObject({
        text: expect.stringMatching(/^x+[^\uFFFD]*$/) as string,
        whole: { bytes: Buffer.byteLength(value) },
      });
      expect(value.startsWith((kept as { text: string }).text)).toBe(true);
    }
  });

  it('that are no UTF-8 say so by their digest; the character that stands for such is itself', () => {
    expect(new KeptValues().keep(Buffer.from([0x61, 0xff]))).toMatchObject({ text: 'a\uFFFD', whole: { bytes: 2 } });
    expect(new KeptValues().keep(Buffer.from('\uFFFD'))).toEqual({ text: '\uFFFD' });
  });
});
