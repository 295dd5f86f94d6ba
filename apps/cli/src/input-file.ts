import { createReadStream } from 'node:fs';
import { STANDARD_INPUT } from './arguments.js';
import { CliError, explainFileError } from './cli-error.js';

/**
 * What a file or standard input has, up to a little more than it may: whoever reads it then says that it is too large.
 * @throws {CliError} file_unusable
 */
export const readInput = async (file: string, maxBytes: number): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  try {
    for await (const chunk of file === STANDARD_INPUT ? process.stdin : createReadStream(file)) {
      chunks.push(chunk as Buffer);
      sizeBytes += (chunk as Buffer).byteLength;
      if (sizeBytes > maxBytes) break;
    }
  } catch (error) {
    const known = error instanceof Error ? explainFileError(error, file) : null;
    throw known === null ? error : new CliError('file_unusable', known.message);
  }
  return Buffer.concat(chunks);
};
