import { hash } from 'node:crypto';

import { canonicalBytes } from './jcs.js';
import type { JsonValue } from './strict-json.js';

declare const digestBrand: unique symbol;

/** A SHA-256 digest as text: `sha256:` and 64 lowercase hex characters (rule FORM-5). */
export type Digest = string & { readonly [digestBrand]: true };

/** `sha256:` and 64 lowercase hex characters. */
export const DIGEST_PATTERN = /^sha256:[0-9a-f]{64}$/;

/** SHA-256 (FIPS 180-4) of bytes, or of the UTF-8 form of a text, as 64 lowercase hex characters. */
export const sha256Hex = (input: Uint8Array | string): string => hash('sha256', input, 'hex');

/** SHA-256 as its 32 bytes. */
export const sha256 = (input: Uint8Array | string): Uint8Array => hash('sha256', input, 'buffer');

/** The digest text of bytes, or of the UTF-8 form of a text. */
export const digestOf = (input: Uint8Array | string): Digest => `sha256:${sha256Hex(input)}` as Digest;

/** The digest of a value's RFC 8785 bytes. Throws `CanonicalizationError` for a value that has none. */
export const digestOfJson = (value: JsonValue): Digest => digestOf(canonicalBytes(value));

/** The 32 bytes that a digest names. */
export const digestBytes = (digest: Digest): Uint8Array => Buffer.from(digest.slice(DIGEST_PREFIX.length), 'hex');

const DIGEST_PREFIX = 'sha256:';

/** Whether a value is a digest in its one spelling: upper-case hex, another prefix or another length is none. */
export const isDigest = (value: unknown): value is Digest => typeof value === 'string' && DIGEST_PATTERN.test(value);
