/** A text that is not the one spelling of some bytes. */
export class EncodingError extends Error {
  override readonly name = 'EncodingError';

  constructor(readonly reason: 'too_large' | 'alphabet' | 'not_canonical') {
    super(`text refused: ${reason}`);
  }
}

const BASE64URL_PATTERN = /^[A-Za-z0-9_-]*$/;
const HEX_PATTERN = /^[0-9a-f]*$/;

/** Unpadded base64url (RFC 4648 section 5). */
export const encodeBase64url = (bytes: Uint8Array): string => view(bytes).toString('base64url');

/**
 * Reads unpadded base64url with exactly one spelling for each byte string: no padding, no other alphabet, no white
 * space, no non-zero trailing bits. `maxBytes` bounds the decoded length and is judged before anything is decoded.
 * Node's own decoder accepts all of these, so the result is encoded again and compared.
 * Throws `EncodingError`.
 */
export const decodeBase64url = (text: string, maxBytes: number): Uint8Array => {
  if (text.length > Math.ceil((maxBytes * 4) / 3)) throw new EncodingError('too_large');
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.toString('base64url') === text) return bytes;
  throw new EncodingError(BASE64URL_PATTERN.test(text) ? 'not_canonical' : 'alphabet');
};

/** Lowercase hex. */
export const encodeHex = (bytes: Uint8Array): string => view(bytes).toString('hex');

/** Reads lowercase hex; upper case, an odd length and anything else throw `EncodingError`. */
export const decodeHex = (text: string, maxBytes: number): Uint8Array => {
  if (text.length > maxBytes * 2) throw new EncodingError('too_large');
  if (!HEX_PATTERN.test(text)) throw new EncodingError('alphabet');
  if (text.length % 2 !== 0) throw new EncodingError('not_canonical');
  return Buffer.from(text, 'hex');
};

const view = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
