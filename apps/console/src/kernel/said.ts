/**
 * Characters that a text can hold without a reader seeing them. A test holds them against their owner,
 * hidden-characters.ts of libs/crypto.
 */
export const HIDDEN_CHARACTERS = /[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u2800\u3164\u115F\u1160\uFFA0]/u;
const LAYOUT = /^[\t\n\r]$/;

export interface Piece {
  readonly text: string;
  /**
   * Whether the piece stands for an invisible character. Then `text` is its code point, with the count if it is
   * repeated.
   */
  readonly isHidden: boolean;
  /** Set if the letters are read from right to left: they would reverse the numbers beside them. */
  readonly isRightToLeft?: true;
}

/** A page renders each piece as an element, and stops responding at a hundred thousand. */
const PIECES_MAX = 500;

const RIGHT_TO_LEFT =
  /\p{Script=Hebrew}|\p{Script=Arabic}|\p{Script=Syriac}|\p{Script=Thaana}|\p{Script=Nko}|[\u07c0-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** The code point of a character in words: `U+202E`. */
export const markOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/**
 * Splits a text that somebody else chose into visible pieces and marks for invisible characters.
 * @param isMultiline if true, line breaks and tabs count as layout and not as invisible; letters that are read from
 * right to left become pieces of their own
 */
export const piecesOf = (text: string, isMultiline = false): readonly Piece[] => runsOf(text, isMultiline).map(pieceOf);

/**
 * The pieces that a page renders. A text of more than `max` pieces becomes one, with each mark spelled as in {@link
 * plain}. Then `isSpelled` is true, and the page must show the characters in the order in which they were sent.
 */
export const shownPiecesOf = (
  text: string,
  isMultiline: boolean,
  max: number = PIECES_MAX,
): { readonly pieces: readonly Piece[]; readonly isSpelled: boolean } => {
  const pieces = piecesOf(text, isMultiline);
  return pieces.length <= max
    ? { pieces, isSpelled: false }
    : { pieces: [{ text: pieces.map(spelled).join(''), isHidden: false }], isSpelled: true };
};

type Manner = 'shown' | 'right-to-left' | 'hidden';

/** Neighbouring characters that are shown in the same manner. A hidden run is one character, `count` times. */
interface Run {
  readonly manner: Manner;
  text: string;
  count: number;
}

const runsOf = (text: string, isMultiline: boolean): readonly Run[] => {
  const runs: Run[] = [];
  for (const character of text) {
    const manner = mannerOf(character, isMultiline);
    const last = runs.at(-1);
    if (last?.manner !== manner || (manner === 'hidden' && last.text !== character))
      runs.push({ manner, text: character, count: 1 });
    else if (manner === 'hidden') last.count += 1;
    else last.text += character;
  }
  return runs;
};

const mannerOf = (character: string, isMultiline: boolean): Manner => {
  if (HIDDEN_CHARACTERS.test(character) && !(isMultiline && LAYOUT.test(character))) return 'hidden';
  return isMultiline && RIGHT_TO_LEFT.test(character) ? 'right-to-left' : 'shown';
};

const pieceOf = ({ manner, text, count }: Run): Piece => {
  if (manner === 'shown') return { text, isHidden: false };
  if (manner === 'right-to-left') return { text, isHidden: false, isRightToLeft: true };
  return { text: count === 1 ? markOf(text) : `${markOf(text)} × ${count.toLocaleString('en-US')}`, isHidden: true };
};

const spelled = ({ text, isHidden }: Piece): string => (isHidden ? `<${text}>` : text);

/**
 * The text with marks spelled out, as one string: for places that take no elements, such as `title`, `aria-label` and
 * the document's title.
 */
export const plain = (text: string): string => piecesOf(text).map(spelled).join('');

/** `act_482v…nfbs`: enough to tell two ids apart where the page offers the whole id on a press. */
export const shortId = (id: string): string => {
  const [, prefix = '', rest = id] = /^([a-z0-9]+[_:])?(.*)$/.exec(id) ?? [];
  return rest.length <= 10 ? id : `${prefix}${rest.slice(0, 4)}…${rest.slice(-4)}`;
};
