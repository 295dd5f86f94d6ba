// What libs/crypto names and a page that only reads never calls: files, threads, streams of Node.
const never = (): never => {
  throw new Error('A page has no files and no threads of Node.');
};

export const availableParallelism = (): number => 1;
export const parentPort = null;
export const workerData = null;
/** Asked while libs/crypto is loaded. */
export const extname = (): string => '';
export { never as createReadStream, never as Readable, never as Worker };
