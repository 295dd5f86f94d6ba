const TEXT_OID = 25;
const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;
/** UTF-8 needs at most so many for one unit of UTF-16. */
const MAX_BYTES_A_UNIT = 3;

/**
 * A `text[]` in the form PostgreSQL calls binary: each text with its length before it, so that nothing is quoted here and
 * searched for quotes there. The driver sends a buffer as it is. The server still checks that each text is UTF-8.
 */
export const textArray = (texts: readonly (string | null)[]): Buffer => {
  const array = Buffer.allocUnsafe(texts.reduce((bytes, text) => bytes + mostBytes(text), HEADER_BYTES));
  let end = 0;
  // One dimension, its elements perhaps null, of text, so many, counted from 1.
  for (const part of [1, 1, TEXT_OID, texts.length, 1]) end = array.writeInt32BE(part, end);
  for (const text of texts) {
    const begin = end + LENGTH_BYTES;
    const bytes = text === null ? NULL_LENGTH : array.write(text, begin);
    array.writeInt32BE(bytes, end);
    end = begin + Math.max(0, bytes);
  }
  return array.subarray(0, end);
};

const mostBytes = (text: string | null): number => LENGTH_BYTES + MAX_BYTES_A_UNIT * (text?.length ?? 0);
