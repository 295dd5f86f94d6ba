// What libs/crypto names and a page that only reads never calls: files, threads, streams of Node, and CBOR.
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
/** Of `@noble/hashes`. */
export { never as hmac };
export { never as decode, never as encode };
export { never as createReadStream, never as JudgingThreads, never as Readable, never as Worker };
