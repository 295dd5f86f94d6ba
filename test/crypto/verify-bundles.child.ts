/** Verifies a bundle for each line of standard input and answers with a line: the verdict, or `{error}`, and its memory. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

import { verifyBundle, type VerifyOptions } from '#libs/crypto';

import { peakMemoryKiB } from '../support/peak-memory.js';

interface Case {
  readonly path: string;
  readonly options: VerifyOptions;
  /** How much of the file is read at a time. */
  readonly chunkBytes: number;
}

const judge = async ({ path, options, chunkBytes }: Case): Promise<object> => {
  try {
    return { verdict: await verifyBundle(createReadStream(path, { highWaterMark: chunkBytes }), options) };
  } catch (error) {
    return { error: (error as Error).message };
  }
};

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await judge(JSON.parse(line) as Case);
  process.stdout.write(`${JSON.stringify({ ...answer, peakKiB: peakMemoryKiB() })}\n`);
}
