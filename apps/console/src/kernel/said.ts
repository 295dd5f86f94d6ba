/** As the service judges it (libs/domain, hidden-characters): all that a text can hold and a reader not see. */
export const HIDDEN_CHARACTERS = /[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u2800\u3164\u115F\u1160\uFFA0]/u;
const LAYOUT = /^[\t\n\r]$/;

export interface Piece {
  readonly text: string;
  /** A character that nobody would see, as its code point; how often, where it stands many times in a row. */
  readonly isHidden: boolean;
  /** Letters that are read from right to left, which would turn round the numbers beside them. */
  readonly isRightToLeft?: true;
}

/** Each piece is an element of the page, and a page of a hundred thousand no longer answers. */
const PIECES_MAX = 500;

const RIGHT_TO_LEFT =
  /\p{Script=Hebrew}|\p{Script=Arabic}|\p{Script=Syriac}|\p{Script=Thaana}|\p{Script=Nko}|[\u07c0-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** `U+202E` */
export const markOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/**
 * A text that somebody else chose, in pieces: what shows, and marks for what does not.
 * @param isMultiline line breaks and tabs are layout, and stay
 */
export const piecesOf = (text: string, isMultiline = false): readonly Piece[] => runsOf(text, isMultiline).map(pieceOf);

/**
 * The same for a page. A text of more pieces than a page can hold is one, with each mark spelled as in {@link plain}, to be
 * shown in the order in which it was sent.
 */
export const shownPiecesOf = (
  text: string,
  isMultiline: boolean,
): { readonly pieces: readonly Piece[]; readonly isSpelled: boolean } => {
  const pieces = piecesOf(text, isMultiline);
  return pieces.length <= PIECES_MAX
    ? { pieces, isSpelled: false }
    : { pieces: [{ text: pieces.map(spelled).join(''), isHidden: false }], isSpelled: true };
};

type Manner = 'shown' | 'right-to-left' | 'hidden';

/** A text of one manner; of hidden ones, the same character `count` times. */
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

/** The same as one string, for places that hold no elements: title, aria-label, the title of the document. */
export const plain = (text: string): string => piecesOf(text).map(spelled).join('');

/** `act_482v…nfbs`: enough to tell two apart; the whole is a press away. */
export const shortId = (id: string): string => {
  const [, prefix = '', rest = id] = /^([a-z0-9]+[_:])?(.*)$/.exec(id) ?? [];
  return rest.length <= 10 ? id : `${prefix}${rest.slice(0, 4)}…${rest.slice(-4)}`;
};
