import { describe, expect, it } from 'vitest';
import { JoinedFrames } from './joined-frames.js';

const [a, b, c] = ['a', 'b', 'c'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];

describe('frames that are joined', () => {
  it('are one object for all who are told the same', () => {
    const joined = new JoinedFrames();
    const bytes = joined.join([a, b, c]);
    expect(String(bytes)).toBe('abc');
    expect(joined.join([a, b, c])).toBe(bytes);
  });

  it.each([
    ['fewer', [b, c], 'bc'],
    ['others', [b, a, c], 'bac'],
    ['equal ones of somebody else', [Buffer.from('x'), b, c], 'xbc'],
    ['one', [c], 'c'],
  ])('are their own where they are %s with the same end', (_title, frames, text) => {
    const joined = new JoinedFrames();
    joined.join([a, b, c]);
    expect(String(joined.join(frames))).toBe(text);
  });
});
