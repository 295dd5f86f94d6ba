import { hash } from 'node:crypto';

/**
 * The name that git gives a file's content. SHA-1, because the host's repositories use it: it finds a content again, and
 * nothing here rests on nobody being able to make two of one name.
 */
export const blobShaOf = (content: string): string => {
  const bytes = Buffer.from(content);
  return hash('sha1', Buffer.concat([Buffer.from(`blob ${bytes.byteLength}\0`), bytes]), 'hex');
};
