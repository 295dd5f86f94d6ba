import { decodeBase64url, encodeBase64url, EncodingError } from '../base64url.js';

/** Four characters, of which the last group may end in `=` or `==`. */
const BASE64_PATTERN = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Padded base64 (RFC 4648 section 4), as every format of C2SP writes bytes. */
export const encodeBase64 = (bytes: Uint8Array): string => {
  const text = encodeBase64url(bytes).replaceAll('-', '+').replaceAll('_', '/');
  return text.padEnd(Math.ceil(text.length / 4) * 4, '=');
};

/**
 * Reads padded base64 in its one spelling: padding is neither missing nor more, and the bits behind the last byte are
 * zero. `maxBytes` bounds the decoded length and is judged before anything is decoded. Throws `EncodingError`.
 */
export const decodeBase64 = (text: string, maxBytes: number): Uint8Array => {
  if (text.length > Math.ceil(maxBytes / 3) * 4) throw new EncodingError('too_large');
  if (!BASE64_PATTERN.test(text)) throw new EncodingError('alphabet');
  const unpadded = text.replace(/=+$/, '').replaceAll('+', '-').replaceAll('/', '_');
  return Uint8Array.from(decodeBase64url(unpadded, maxBytes));
};

/** As `decodeBase64`, for a caller that has a reason of its own: null for every text that it refuses. */
export const bytesOfBase64 = (text: string, maxBytes: number): Uint8Array | null => {
  try {
    return decodeBase64(text, maxBytes);
  } catch (error) {
    if (error instanceof EncodingError) return null;
    throw error;
  }
};
