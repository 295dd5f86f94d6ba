import { damaged } from './backup-error.js';

/** Raised when the layout of a backup changes. */
const FORMAT = 1;

/** The last deed of an organization's ledger. */
export interface LedgerHead {
  readonly org: string;
  readonly seq: number;
  readonly body_hash: string;
}

/** The first entry of a backup: what it holds, and when it began. */
export interface BackupManifest {
  readonly object: 'backup';
  readonly format: typeof FORMAT;
  /** RFC 3339. Everything that was recorded until then is in the backup, and some of what came while it was taken. */
  readonly created_at: string;
  /** Of the service that took it. */
  readonly version: string;
  /** Major version and platform of the data files, which others cannot read. */
  readonly postgres: string;
  readonly platform: string;
  /** Position of the last event when it began; -1 for an empty log. */
  readonly head: number;
  readonly ledgers: readonly LedgerHead[];
  /** Folders of the database, with those that are empty. */
  readonly directories: readonly string[];
}

export const manifestOf = (facts: Omit<BackupManifest, 'object' | 'format'>): BackupManifest => ({
  object: 'backup',
  format: FORMAT,
  ...facts,
});

/** @throws {BackupError} it is none, or of a layout that this version does not know */
export const readManifest = (bytes: Buffer): BackupManifest => {
  const value = parsed(bytes) as Partial<BackupManifest> | null;
  if (value?.object !== 'backup') throw damaged('it has no manifest');
  if (value.format !== FORMAT) throw damaged('another version of the service wrote it');
  return value as BackupManifest;
};

const parsed = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw damaged('its manifest cannot be read', { cause: error });
  }
};
