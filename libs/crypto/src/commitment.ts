import { createHmac, hash, randomBytes } from 'node:crypto';

import { decodeBase64url, encodeBase64url } from './base64url.js';
import type { Digest } from './digest.js';

/** 32 random bytes in base64url: 43 characters. */
export type Salt = string;

/** 32 bytes in base64url, without non-zero trailing bits. */
export const SALT_PATTERN = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

const SALT_BYTES = 32;
const COMMITMENT_TAG = Buffer.from('service/commit/v1\n');
const SALT_TAG = 'service/salt/v1\n';
const LINE_FEED = Buffer.from('\n');

/**
 * What a salt is for. One root salt lies with what was recorded together, and each value that a deed commits to has a
 * salt of its own, made from the root: whoever is shown one value and its salt can guess at no other.
 */
export type CommittedValue =
  'args' | 'assertion' | 'context' | 'data' | 'evidence' | 'input' | 'message' | 'reason' | 'request' | 'result';

export const newSalt = (): Salt => encodeBase64url(randomBytes(SALT_BYTES));

export const isSalt = (value: unknown): value is Salt => typeof value === 'string' && SALT_PATTERN.test(value);

/** HMAC-SHA256 under the root's 32 bytes over `service/salt/v1` LF and what the salt is for (docs/deed-format.md). */
export const saltFor = (root: Salt, value: CommittedValue): Salt =>
  createHmac('sha256', decodeBase64url(root, SALT_BYTES)).update(`${SALT_TAG}${value}`).digest('base64url');

/**
 * What a deed of format `service.deed/2` holds in place of a value: SHA-256 over `service/commit/v1` LF, the 32 bytes of
 * the salt, LF, and the value's canonical bytes. Nobody without the salt can tell whether he guessed the value.
 * @param canonical RFC 8785 bytes, or the text of them
 */
export const commitmentOf = (salt: Salt, canonical: Uint8Array | string): Digest => {
  const value = typeof canonical === 'string' ? Buffer.from(canonical) : canonical;
  const bytes = Buffer.concat([COMMITMENT_TAG, decodeBase64url(salt, SALT_BYTES), LINE_FEED, value]);
  return `sha256:${hash('sha256', bytes, 'hex')}` as Digest;
};

/** {@link commitmentOf} under the salt that the root gives for this value. */
export const commitUnder = (root: Salt, value: CommittedValue, canonical: Uint8Array | string): Digest =>
  commitmentOf(saltFor(root, value), canonical);
