import { sha256 } from '../digest.js';

/** SHA-256, the hash of every tree here. */
export const HASH_BYTES = 32;

const LEAF_PREFIX = 0x00;
const NODE_PREFIX = 0x01;

/** The root of a tree of no leaves: the hash of the empty string (RFC 6962 section 2.1). */
export const EMPTY_ROOT: Uint8Array = Uint8Array.from(sha256(new Uint8Array(0)));

// Written anew for each node, and hashed before anything else runs.
const node = new Uint8Array(1 + 2 * HASH_BYTES);
node[0] = NODE_PREFIX;

/** SHA-256(0x00 || data): the hash of one entry. The prefix keeps an entry from being taken for two hashes. */
export const leafHash = (data: Uint8Array): Uint8Array => {
  const leaf = new Uint8Array(1 + data.byteLength);
  leaf[0] = LEAF_PREFIX;
  leaf.set(data, 1);
  return sha256(leaf);
};

/** SHA-256(0x01 || left || right): the hash of two subtrees side by side. */
export const nodeHash = (left: Uint8Array, right: Uint8Array): Uint8Array => {
  node.set(left, 1);
  node.set(right, 1 + HASH_BYTES);
  return sha256(node);
};

/** Whether bytes have the length of a hash. What has another must not reach `nodeHash`. */
export const isHash = (bytes: Uint8Array): boolean => bytes.byteLength === HASH_BYTES;

/** Whether two hashes are the same. They are public: time tells nothing. */
export const isSameHash = (one: Uint8Array, other: Uint8Array): boolean =>
  one.byteLength === other.byteLength && one.every((byte, index) => byte === other[index]);
