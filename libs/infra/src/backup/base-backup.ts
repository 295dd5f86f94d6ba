import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { answered, DatabaseClient } from '../postgres/index.js';
import { BackupError } from './backup-error.js';

/** What makes the files that were copied a backup. */
export interface BackupEnd {
  /** Content of `backup_label`, which tells the server where to begin its recovery. */
  readonly label: string;
  /** Names of the segments of the write-ahead log that recovery needs, in order. */
  readonly segments: readonly string[];
}

const START_SEGMENT = /^START WAL LOCATION: \S+ \(file ([0-9A-F]{24})\)$/m;
const HEX = 16;
const PART_CHARACTERS = 8;

/**
 * PostgreSQL's low-level base backup (its manual, 'Making a Base Backup Using the Low Level API'). While the session lives,
 * a temporary slot keeps the log from being recycled; a session that ends takes slot and backup with it.
 */
export class BaseBackup {
  private constructor(private readonly session: pg.Client) {}

  static async begin(connectionString: string): Promise<BaseBackup> {
    const session = new DatabaseClient({ connectionString, application_name: 'ags cli' });
    await answered(session.connect());
    const backup = new BaseBackup(session);
    try {
      const name = `ags_backup_${randomBytes(8).toString('hex')}`;
      await backup.ask('select pg_create_physical_replication_slot($1, true, true)', [name]);
      await backup.ask('select pg_backup_start($1, fast => true)', ['backup of the service']);
      return backup;
    } catch (error) {
      await backup.close();
      throw error;
    }
  }

  async end(): Promise<BackupEnd> {
    const [stopped] = await this.ask<{ lsn: string; labelfile: string; spcmapfile: string }>(
      'select lsn::text, labelfile, spcmapfile from pg_backup_stop(wait_for_archive => false)',
    );
    const { lsn = '', labelfile: label = '', spcmapfile: tablespaces = '' } = stopped ?? {};
    if (tablespaces.trim() !== '') {
      throw new BackupError('The database has tablespaces outside of the state directory. Use pg_basebackup for it.');
    }
    const [last] = await this.ask<{ name: string; bytes: string }>(
      `select pg_walfile_name($1::pg_lsn) as name, pg_size_bytes(current_setting('wal_segment_size'))::text as bytes`,
      [lsn],
    );
    const first = START_SEGMENT.exec(label)?.[1] ?? '';
    return { label, segments: segmentsBetween(first, last?.name ?? '', Number(last?.bytes)) };
  }

  async close(): Promise<void> {
    await this.session.end();
  }

  private async ask<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await answered(this.session.query<Row>(text, values))).rows;
  }
}

/** A segment's name is its timeline, and its number in two parts, of eight hex characters each. */
export const segmentsBetween = (first: string, last: string, segmentBytes: number): string[] => {
  const timeline = first.slice(0, PART_CHARACTERS);
  const perPart = 2 ** 32 / segmentBytes;
  const numberOf = (name: string): number =>
    Number.parseInt(name.slice(PART_CHARACTERS, 2 * PART_CHARACTERS), HEX) * perPart +
    Number.parseInt(name.slice(2 * PART_CHARACTERS), HEX);
  const part = (value: number): string => value.toString(HEX).toUpperCase().padStart(PART_CHARACTERS, '0');
  const count = numberOf(last) - numberOf(first) + 1;
  if (!last.startsWith(timeline) || !(count > 0)) throw new Error(`no segments lead from ${first} to ${last}`);
  return Array.from({ length: count }, (_, index) => {
    const number = numberOf(first) + index;
    return `${timeline}${part(Math.floor(number / perPart))}${part(number % perPart)}`;
  });
};
