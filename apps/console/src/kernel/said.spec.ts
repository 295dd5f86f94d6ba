import { describe, expect, it } from 'vitest';
import { piecesOf, plain, shortId, shownPiecesOf } from './said.ts';

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

  it('keeps line breaks and tabs in a multiline text', () => {
    expect(piecesOf('a\n\tb', true)).toEqual([{ text: 'a\n\tb', isHidden: false }]);
    expect(plain('a\nb')).toBe('a<U+000A>b');
  });
});

describe('a value on a page', () => {
  const shown = (text: string) => shownPiecesOf(text, true).pieces.map((piece) => piece.text);

  it('counts an invisible character that is repeated', () => {
    expect(shown(`a${'\u007f'.repeat(200_000)}b`)).toEqual(['a', 'U+007F × 200,000', 'b']);
    expect(shown('\u200b\u200c\u200c')).toEqual(['U+200B', 'U+200C × 2']);
  });

  it.each([
    ['marks', 'a\u007f', '<U+007F>'],
    ['changes of direction', 'a\u05d0', '\u05d0'],
  ])('is one text where it holds more %s than a page does elements', (_title, pair, spelled) => {
    expect(shownPiecesOf(pair.repeat(250), true)).toMatchObject({ isSpelled: false, pieces: { length: 500 } });
    const { pieces, isSpelled } = shownPiecesOf(pair.repeat(65_000), true);
    expect([isSpelled, pieces.length]).toEqual([true, 1]);
    expect(pieces[0]?.text).toBe(`a${spelled}`.repeat(65_000));
  });

  it('is one text sooner where it is one of many on its page', () => {
    expect(shownPiecesOf('a\u007fb', true, 3)).toMatchObject({ isSpelled: false, pieces: { length: 3 } });
    expect(shownPiecesOf('a\u007fb', true, 2)).toEqual({
      pieces: [{ text: 'a<U+007F>b', isHidden: false }],
      isSpelled: true,
    });
  });

  it('keeps letters that are read from right to left as a piece of their own', () => {
    expect(piecesOf('\u05d0\u05d1 100 -> 200', true)).toEqual([
      { text: '\u05d0\u05d1', isHidden: false, isRightToLeft: true },
      { text: ' 100 -> 200', isHidden: false },
    ]);
    expect(piecesOf('\u0627 1', false)).toEqual([{ text: '\u0627 1', isHidden: false }]);
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
