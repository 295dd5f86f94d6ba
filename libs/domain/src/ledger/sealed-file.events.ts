import type { Digest } from '#libs/crypto';
import type { OrgId, Timestamp } from '../kernel/index.js';

/** The media types of files whose digest can be sealed (rule DEED-15). */
export const FILE_MEDIA_TYPES = [
  'application/pdf',
  'text/markdown',
  'application/json',
  'text/plain',
  'text/html',
] as const;
export type FileMediaType = (typeof FILE_MEDIA_TYPES)[number];

/** All that the service ever knows of a file, as its sender describes it. The file itself is never sent. */
export interface FileDescription {
  readonly sha256: Digest;
  readonly bytes: number;
  readonly media_type: FileMediaType;
  /** One line, for people. */
  readonly label: string;
}

/** The only event of a stream `file-<command id>`. */
export type FileEvent = { type: 'FileSealed'; data: FileDescription & { org: OrgId; at: Timestamp } };
