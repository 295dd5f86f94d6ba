import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '#libs/infra/runtime';

export interface StaticFile {
  readonly text: string;
  readonly contentType: string;
  readonly etag: string;
}

/**
 * A file of the sign-in pages. Read once, at the start: a file that is missing ends it.
 * @param path below the root of the package
 */
export const readStaticFile = (path: string, contentType: string): StaticFile => {
  const text = readFileSync(join(packageRoot(), path), 'utf8');
  return { text, contentType, etag: `"sha256:${createHash('sha256').update(text).digest('hex')}"` };
};
