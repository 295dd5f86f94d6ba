import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '#libs/infra/runtime';

/** The compiler copies nothing but code, so sources, bundle and image read the one folder of the repository. */
const FOLDER = 'apps/api/src/pages/sign-in/files';

export interface StaticFile {
  readonly text: string;
  readonly contentType: string;
  readonly etag: string;
}

/** A file of the sign-in pages. Read once, at the start: a file that is missing ends it. */
export const readStaticFile = (name: string, contentType: string): StaticFile => {
  const text = readFileSync(join(packageRoot(), FOLDER, name), 'utf8');
  return { text, contentType, etag: `"sha256:${createHash('sha256').update(text).digest('hex')}"` };
};
