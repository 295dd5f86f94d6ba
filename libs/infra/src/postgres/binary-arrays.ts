/**
 * Array parameters in PostgreSQL's own binary form. pg writes an array as one text of quoted elements: it escapes every
 * quote of a JSON document, and the server removes the escapes again. The binary form copies the bytes. The statement
 * must give each parameter its type (`$1::text[]`, or a function's own), because a binary value is never converted.
 */

const TEXT_OID = 25;
const BIGINT_OID = 20;
const UUID_OID = 2950;
/**
 * The number of dimensions, a flag for nulls, the element type, and the length and first index of the one dimension.
 */
const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const BIGINT_BYTES = 8;
const UUID_BYTES = 16;
/** Stands in the place of an element's length for a null. */
const NULL_LENGTH = -1;

/** `text[]`. A lone surrogate would be stored as U+FFFD, and U+0000 is refused by the server (22021). */
export const textArray = (values: readonly (string | null)[]): Buffer => {
  const lengths = values.map((value) => (value === null ? NULL_LENGTH : Buffer.byteLength(value)));
  const bytes = lengths.reduce((sum, length) => sum + LENGTH_BYTES + Math.max(0, length), HEADER_BYTES);
  const array = arrayOf(TEXT_OID, values.length, bytes);
  let at = HEADER_BYTES;
  values.forEach((value, index) => {
    at = array.writeInt32BE(lengths[index] as number, at);
    if (value !== null) at += array.write(value, at);
  });
  return array;
};

/** `bigint[]`, of safe integers. */
export const bigintArray = (values: readonly number[]): Buffer => {
  const array = arrayOf(BIGINT_OID, values.length, HEADER_BYTES + values.length * (LENGTH_BYTES + BIGINT_BYTES));
  let at = HEADER_BYTES;
  for (const value of values) {
    at = array.writeInt32BE(BIGINT_BYTES, at);
    at = array.writeBigInt64BE(BigInt(value), at);
  }
  return array;
};

/** `uuid[]`, of UUIDs in their usual form. */
export const uuidArray = (values: readonly string[]): Buffer => {
  const array = arrayOf(UUID_OID, values.length, HEADER_BYTES + values.length * (LENGTH_BYTES + UUID_BYTES));
  let at = HEADER_BYTES;
  for (const value of values) {
    at = array.writeInt32BE(UUID_BYTES, at);
    const written = array.write(value.replaceAll('-', ''), at, 'hex');
    if (written !== UUID_BYTES) throw new TypeError(`${value} is no UUID`);
    at += written;
  }
  return array;
};

/** An empty array has no dimension, so its header ends after the element type. */
const arrayOf = (elementOid: number, length: number, bytes: number): Buffer => {
  const array = Buffer.allocUnsafe(bytes);
  array.writeInt32BE(length === 0 ? 0 : 1, 0);
  array.writeInt32BE(0, 4);
  array.writeInt32BE(elementOid, 8);
  array.writeInt32BE(length, 12);
  array.writeInt32BE(1, 16);
  return length === 0 ? array.subarray(0, 12) : array;
};
