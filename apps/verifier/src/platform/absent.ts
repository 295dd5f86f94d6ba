// What libs/crypto names and a page that only reads never calls: files, threads, streams of Node, and CBOR; in the Console
// also what inflates a bundle.
const never = (): never => {
  throw new Error('This page has no files, no threads and no CBOR.');
};

export const availableParallelism = (): number => 1;
export const parentPort = null;
export const workerData = null;
/** Asked while libs/crypto is loaded. */
export const extname = (): string => '';
/** Of `cborg`. */
export const rfc8949EncodeOptions = {};
export class Tagged {
  static decoder(): typeof never {
    return never;
  }
}
/** Of `node:zlib`. */
export { never as crc32, never as createDeflateRaw, never as createInflateRaw };
/** Of `@noble/hashes`. */
export { never as hmac };
export { never as decode, never as encode };
export { never as createReadStream, never as JudgingThreads, never as Readable, never as Worker };
