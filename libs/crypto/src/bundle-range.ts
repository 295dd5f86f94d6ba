import { parseCanonical } from './bundle-format.js';
import { closed, integer, list, matching } from './closed-schema.js';
import { canonicalBytes } from './jcs.js';
import { bytesOfBase64, encodeBase64 } from './transparency/base64.js';
import type { LedgerRange } from './transparency/ledger-range.js';
import { HASH_BYTES } from './transparency/merkle-hash.js';

/** Room for the hashes of the largest tree on both sides. */
export const MAX_RANGE_BYTES = 16_384;

/** No tree has more complete subtrees on one side than a size has bits. */
const MAX_HASHES = 64;

// 32 bytes in padded base64, as checkpoints and proofs write hashes.
const hash = matching(/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/);

const rangeSchema = closed({
  first: integer(1),
  last: integer(1),
  size: integer(1),
  left: list(hash, MAX_HASHES),
  right: list(hash, MAX_HASHES),
});

/** range.json as its bytes. */
export const encodeRange = ({ first, last, size, left, right }: LedgerRange): Uint8Array =>
  canonicalBytes({ first, last, size, left: left.map(encodeBase64), right: right.map(encodeBase64) });

/** The range in these bytes, or null when they are not canonical or of another shape. */
export const parseRange = (bytes: Uint8Array): LedgerRange | null => {
  const range = parseCanonical(bytes, rangeSchema, MAX_RANGE_BYTES);
  return range && { ...range, left: hashesOf(range.left), right: hashesOf(range.right) };
};

const hashesOf = (texts: readonly string[]): readonly Uint8Array[] =>
  texts.map((text) => bytesOfBase64(text, HASH_BYTES) ?? new Uint8Array(0));
