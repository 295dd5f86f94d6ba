import { describe, expect, it } from 'vitest';
import { piecesOf, plain, shortId } from './said.ts';

describe('what an agent says', () => {
  it('is one piece where all of it shows', () => {
    expect(piecesOf('Müller & Söhne, 日本 👍')).toEqual([{ text: 'Müller & Söhne, 日本 👍', isHidden: false }]);
    expect(piecesOf('')).toEqual([]);
  });

  it.each([
    ['a direction', '\u202e', 'U+202E'],
    ['an isolate', '\u2066', 'U+2066'],
    ['nothing of width', '\u200b', 'U+200B'],
    ['a control', '\u0007', 'U+0007'],
    ['a line end of Unicode', '\u2028', 'U+2028'],
    ['a filler', '\u3164', 'U+3164'],
    ['a tag', '\u{e0041}', 'U+E0041'],
    ['a soft hyphen', '\u00ad', 'U+00AD'],
    ['a lone surrogate', '\ud800', 'U+D800'],
  ])('has a mark where it holds %s', (_title, character, mark) => {
    expect(piecesOf(`a${character}b`)).toEqual([
      { text: 'a', isHidden: false },
      { text: mark, isHidden: true },
      { text: 'b', isHidden: false },
    ]);
    expect(plain(`a${character}b`)).toBe(`a<${mark}>b`);
  });

  it('keeps line breaks and tabs where it stands in lines', () => {
    expect(piecesOf('a\n\tb', true)).toEqual([{ text: 'a\n\tb', isHidden: false }]);
    expect(plain('a\nb')).toBe('a<U+000A>b');
  });
});

describe('an id', () => {
  it.each([
    ['act_01h2xcejqtf2nbrexx3vqjhp46', 'act_01h2…hp46'],
    [`sha256:${'ab'.repeat(32)}`, 'sha256:abab…abab'],
    ['37b2229500112233445566778899aabb', '37b2…aabb'],
    ['customer', 'customer'],
  ])('%s is cut in its middle', (id, short) => expect(shortId(id)).toBe(short));
});
