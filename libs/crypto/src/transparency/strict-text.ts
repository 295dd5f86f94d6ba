/** Why bytes are no text of lines. Closed, and part of the reasons of every format that is made of lines. */
export type TextFault = 'too_large' | 'utf8' | 'control_character';

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const UTF8_WRITER = new TextEncoder();
/** ASCII control characters, those below U+0020, other than newline (signed-note, Format). */
const CONTROL_CHARACTER = /[\u0000-\u0009\u000b-\u001f]/;

/** Whether a text holds what no signed note may hold. A carriage return is one. */
export const hasControlCharacter = (text: string): boolean => CONTROL_CHARACTER.test(text);

/** The UTF-8 form. Lone surrogates have none: a text with one is refused before by whoever writes it. */
export const utf8 = (text: string): Uint8Array => UTF8_WRITER.encode(text);

/** The text of bytes, or null where they are not valid UTF-8. A byte order mark is a character like any other. */
export const textOfUtf8 = (bytes: Uint8Array): string | null => {
  try {
    return UTF8.decode(bytes);
  } catch (error) {
    // The strict decoder says only no, with an error of this class.
    if (error instanceof TypeError) return null;
    throw error;
  }
};

/** Reads the bytes that all formats of C2SP are made of. The size is judged first; `refuse` throws the caller's own error. */
export const strictText = (bytes: Uint8Array, maxBytes: number, refuse: (fault: TextFault) => never): string => {
  if (bytes.byteLength > maxBytes) return refuse('too_large');
  const text = textOfUtf8(bytes) ?? refuse('utf8');
  return hasControlCharacter(text) ? refuse('control_character') : text;
};

const DECIMAL_PATTERN = /^(?:0|[1-9][0-9]{0,15})$/;

/**
 * An ASCII decimal with no leading zeroes, from 0 to 2^53-1; null for anything else. The formats know sizes up to 2^64-1:
 * a larger one is refused here, not rounded, and no log will reach it.
 */
export const readDecimal = (text: string): number | null => {
  if (!DECIMAL_PATTERN.test(text)) return null;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : null;
};

/** Whether a number is a size, an index or a time of these formats: an integer from 0 to 2^53-1. */
export const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
