import type { Digest } from '#libs/crypto';
import type { OrgId, Timestamp } from '../kernel/index.js';

/** What a file may be whose digest is sealed (rule DEED-15). */
export const FILE_MEDIA_TYPES = [
  'application/pdf',
  'text/markdown',
  'application/json',
  'text/plain',
  'text/html',
] as const;
export type FileMediaType = (typeof FILE_MEDIA_TYPES)[number];

/** All that the service ever knows of a file, in the words of who sends it: the file itself stays where it is. */
export interface FileDescription {
  readonly sha256: Digest;
  readonly bytes: number;
  readonly media_type: FileMediaType;
  /** One line, for people. */
  readonly label: string;
}

/** Stream `file-<command id>`: this event and nothing after it. */
export type FileEvent = { type: 'FileSealed'; data: FileDescription & { org: OrgId; at: Timestamp } };
