import { encodeBase64url, sha256 } from '#libs/crypto';

/** 32 random bytes, base64url (43 characters); only their SHA-256 is stored (rule PEOPLE-9). */
export const SECRET_BYTES = 32;

/** The last character carries four bits: the others would be a second spelling of the same bytes. */
const SECRET_PATTERN = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

export const secretText = (bytes: Uint8Array): string => encodeBase64url(bytes);

/** The hash that a secret is found by; null for a text that is none. */
export const secretHash = (text: string): Uint8Array | null => (SECRET_PATTERN.test(text) ? sha256(text) : null);
