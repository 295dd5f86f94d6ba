/** As the service judges it (libs/domain, hidden-characters): all that a text can hold and a reader not see. */
export const HIDDEN_CHARACTERS = /[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u2800\u3164\u115F\u1160\uFFA0]/u;
const LAYOUT = /^[\t\n\r]$/;

export interface Piece {
  readonly text: string;
  /** A character that nobody would see, as its code point. */
  readonly isHidden: boolean;
}

/** `U+202E` */
export const markOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/**
 * A text that somebody else chose, in pieces: what shows, and marks for what does not.
 * @param isMultiline line breaks and tabs are layout, and stay
 */
export const piecesOf = (text: string, isMultiline = false): readonly Piece[] => {
  const pieces: { text: string; isHidden: boolean }[] = [];
  for (const character of text) {
    const isHidden = HIDDEN_CHARACTERS.test(character) && !(isMultiline && LAYOUT.test(character));
    const last = pieces.at(-1);
    if (!isHidden && last?.isHidden === false) last.text += character;
    else pieces.push({ text: isHidden ? markOf(character) : character, isHidden });
  }
  return pieces;
};

/** The same as one string, for places that hold no elements: title, aria-label, the title of the document. */
export const plain = (text: string): string =>
  piecesOf(text)
    .map((piece) => (piece.isHidden ? `<${piece.text}>` : piece.text))
    .join('');

/** `act_482v…nfbs`: enough to tell two apart; the whole is a press away. */
export const shortId = (id: string): string => {
  const [, prefix = '', rest = id] = /^([a-z0-9]+[_:])?(.*)$/.exec(id) ?? [];
  return rest.length <= 10 ? id : `${prefix}${rest.slice(0, 4)}…${rest.slice(-4)}`;
};
