import type { Stats } from 'node:fs';
import { constants, type FileHandle, mkdir, open, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DIGEST_PATTERN, isDigest } from '#libs/crypto';
import type { Logger, OrgId } from '#libs/domain/kernel';
import { type SealedHead, SealedHeads } from '#libs/domain/ledger';

/** A record is a line of this many bytes, padded with spaces, so that it can be overwritten in place. */
const RECORD_BYTES = 128;
const RECORD = new RegExp(`^(org_[0-9a-z]{26}) ([1-9]\\d{0,14}):(${DIGEST_PATTERN.source.slice(1, -1)}) *\\n$`);
/** A record that no ledger uses any more. */
const FREE = '\n'.padStart(RECORD_BYTES);

export const sealedHeadsPath = (stateDir: string): string => join(stateDir, 'sealed-heads');

/** The heads in a file; empty if there is no file. For programs that only read. */
export const readSealedHeads = async (path: string): Promise<readonly SealedHead[]> => {
  const content = await readFile(path, 'latin1').catch((error: unknown) => {
    if (isCode(error, 'ENOENT')) return '';
    throw error;
  });
  const heads = new Map<OrgId, SealedHead>();
  // Read line by line, because a copy of the file may have lost the padding that gives each record its fixed place.
  for (const line of content.split(/\r?\n/)) {
    const head = headIn(`${line}\n`);
    if (head !== null) keepLatest(heads, head);
  }
  return [...heads.values()];
};

/**
 * The file `sealed-heads` of a state directory: a line for each ledger, `org_... seq:body_hash`, as `--head` takes it.
 * Each append of deeds causes one write into the page cache. It survives the end of the process; a power cut may lose
 * the last writes, which the next deed of each ledger makes up for. Readable with `cat`; mode 0600.
 */
export class SealedHeadsFile extends SealedHeads {
  private readonly heads = new Map<OrgId, SealedHead>();
  private file: FileHandle | null = null;
  /** The device and inode of the open file. */
  private identity = '';
  /**
   * False on a read-only file system: the file is then only compared with, and newer heads are kept in the memory of
   * this process.
   */
  private isWritable = true;
  /** The offsets of an organization's records: one, unless two processes created its record at the same moment. */
  private readonly offsets = new Map<OrgId, readonly number[]>();
  private scannedBytes = 0;
  private isFailing = false;
  /** The next write to the file, which new heads join until it begins. */
  private remembering: { readonly due: Map<OrgId, SealedHead>; readonly done: Promise<void> } | null = null;
  private turn: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly path: string,
    private readonly logger: Logger,
  ) {
    super();
  }

  /** @throws {Error} the file system's error when the file cannot be used */
  static async open(path: string, logger: Logger): Promise<SealedHeadsFile> {
    const opened = new SealedHeadsFile(path, logger);
    await opened.openFile();
    await opened.scan();
    return opened;
  }

  private async openFile(): Promise<void> {
    try {
      await makeFolder(dirname(this.path));
      this.file = await open(this.path, constants.O_RDWR | constants.O_CREAT, 0o600);
      this.identity = identityOf(await this.file.stat());
    } catch (error) {
      if (!isCode(error, 'EROFS')) throw error;
      this.isWritable = false;
      this.logger.warn('where ledgers end is not remembered outside of the database: the file system is read-only', {
        path: this.path,
      });
      this.file = await open(this.path, 'r').catch((missing: unknown) => {
        if (isCode(missing, 'ENOENT')) return null;
        throw missing;
      });
    }
  }

  /**
   * Opens the file again if somebody has replaced or removed it, because reads and writes on the old handle would be
   * useless.
   */
  private async reopenIfReplaced(): Promise<void> {
    if (!this.isWritable) return;
    if (this.file !== null) {
      const there = await stat(this.path).catch(() => null);
      if (there !== null && identityOf(there) === this.identity) return;
      await this.file.close();
      // If opening fails, every later call tries again.
      this.file = null;
    }
    this.scanAgain();
    await this.openFile();
  }

  private scanAgain(): void {
    this.offsets.clear();
    this.scannedBytes = 0;
  }

  /** Read from the file each time, because an operator may have changed it with `settle`. */
  override of(org: OrgId): Promise<SealedHead | null> {
    return this.inTurn(async () => {
      await this.scan();
      const offsets = this.offsets.get(org) ?? [];
      if (this.isWritable && offsets.length > 0) {
        this.heads.delete(org);
        for (const offset of offsets) await this.look(offset);
      }
      return this.heads.get(org) ?? null;
    });
  }

  override all(): Promise<readonly SealedHead[]> {
    return this.inTurn(async () => {
      if (this.isWritable) this.heads.clear();
      this.scanAgain();
      await this.scan();
      return [...this.heads.values()];
    });
  }

  /** If several heads of a ledger arrive while the file is being written, only the last one is written. */
  override remember(head: SealedHead): Promise<void> {
    this.remembering ??= this.nextRemembering();
    keepLatest(this.remembering.due, head);
    return this.remembering.done;
  }

  private nextRemembering(): NonNullable<typeof this.remembering> {
    const due = new Map<OrgId, SealedHead>();
    const done = this.inTurn(async () => {
      if (this.remembering?.due === due) this.remembering = null;
      for (const head of due.values()) await this.rememberNow(head);
    });
    return { due, done };
  }

  private async rememberNow(head: SealedHead): Promise<void> {
    if ((this.heads.get(head.org)?.seq ?? 0) >= head.seq) return;
    this.heads.set(head.org, head);
    try {
      await this.write(head.org, lineOf(head));
      this.isFailing = false;
    } catch (error) {
      if (!this.isFailing) this.logger.error('where ledgers end cannot be remembered', { path: this.path, error });
      this.isFailing = true;
    }
  }

  /**
   * Carries out an operator's decision: the ledger ends here, whatever was remembered; null for a ledger without a
   * deed.
   * @throws {Error} when the decision cannot be written to the file
   */
  settle(org: OrgId, head: SealedHead | null): Promise<void> {
    // Heads remembered from now on are written after the decision, not in the write that is already waiting.
    this.remembering = null;
    return this.inTurn(async () => {
      if (!this.isWritable) throw new Error(`${this.path} cannot be written: its file system is read-only`);
      await this.scan();
      await this.write(org, head === null ? FREE : lineOf(head));
      this.heads.delete(org);
      if (head !== null) this.heads.set(org, head);
    });
  }

  async close(): Promise<void> {
    await this.inTurn(async () => this.file?.close());
  }

  private inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const next = this.turn.then(work, work);
    this.turn = next.catch(() => undefined);
    return next;
  }

  private async write(org: OrgId, line: string): Promise<void> {
    await this.reopenIfReplaced();
    if (!this.isWritable || this.file === null) return;
    if (this.scannedBytes === 0) await this.scan();
    const offsets = this.offsets.get(org) ?? [];
    for (const offset of offsets) await this.writeAt(this.file, line, offset);
    if (offsets.length > 0 || line === FREE) return;
    // The end of the file is looked up first, because another process may have appended records.
    await this.scan();
    const offset = this.scannedBytes;
    await this.writeAt(this.file, line, offset);
    this.offsets.set(org, [offset]);
    this.scannedBytes = offset + RECORD_BYTES;
  }

  private async writeAt(file: FileHandle, line: string, offset: number): Promise<void> {
    const { bytesWritten } = await file.write(line, offset, 'latin1');
    if (bytesWritten === RECORD_BYTES) return;
    // An incomplete record would shift every record after it.
    if (offset >= this.scannedBytes) await file.truncate(this.scannedBytes);
    throw new Error(`only ${bytesWritten} of ${RECORD_BYTES} bytes could be written`);
  }

  /** Reads the records that other processes have appended since the last scan. */
  private async scan(): Promise<void> {
    await this.reopenIfReplaced();
    if (this.file === null) return;
    const { size } = await this.file.stat();
    const count = Math.floor((size - this.scannedBytes) / RECORD_BYTES);
    if (count <= 0) return;
    const content = Buffer.alloc(count * RECORD_BYTES);
    await this.file.read(content, 0, content.length, this.scannedBytes);
    let damaged = 0;
    for (const { head, offset, isFree } of recordsIn(content)) {
      if (head !== null) this.found(head, this.scannedBytes + offset);
      else if (!isFree) damaged += 1;
    }
    this.scannedBytes += content.length;
    if (damaged === 0) return;
    this.logger.warn('lines of this file cannot be read, and what they remember of ledgers is lost', {
      path: this.path,
      lines: String(damaged),
    });
  }

  private found(head: SealedHead, offset: number): void {
    this.offsets.set(head.org, [...(this.offsets.get(head.org) ?? []), offset]);
    keepLatest(this.heads, head);
  }

  private async look(offset: number): Promise<void> {
    const record = Buffer.alloc(RECORD_BYTES);
    await this.file?.read(record, 0, RECORD_BYTES, offset);
    const head = headIn(record.toString('latin1'));
    if (head !== null) keepLatest(this.heads, head);
  }
}

const identityOf = ({ dev, ino }: Stats): string => `${dev}:${ino}`;

/** Creates the state directory, which a process does not have yet if its keys and database are elsewhere. */
const makeFolder = (folder: string): Promise<unknown> =>
  mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    if (!isCode(error, 'EEXIST')) throw error;
  });

const isCode = (error: unknown, code: string): boolean => (error as NodeJS.ErrnoException | null)?.code === code;

const keepLatest = (heads: Map<OrgId, SealedHead>, head: SealedHead): void => {
  if (head.seq > (heads.get(head.org)?.seq ?? 0)) heads.set(head.org, head);
};

interface FoundRecord {
  /** Null if the line is damaged or free. */
  readonly head: SealedHead | null;
  readonly offset: number;
  readonly isFree: boolean;
}

/** The complete records; the next write overwrites an incomplete one at the end. */
const recordsIn = (content: Buffer): readonly FoundRecord[] =>
  Array.from({ length: Math.floor(content.length / RECORD_BYTES) }, (_, index) => {
    const offset = index * RECORD_BYTES;
    const line = content.toString('latin1', offset, offset + RECORD_BYTES);
    return { head: headIn(line), offset, isFree: line === FREE };
  });

const lineOf = ({ org, seq, bodyHash }: SealedHead): string =>
  `${org} ${seq}:${bodyHash}`.padEnd(RECORD_BYTES - 1) + '\n';

const headIn = (record: string): SealedHead | null => {
  const [, org, seq, bodyHash] = RECORD.exec(record) ?? [];
  if (org === undefined || seq === undefined || !isDigest(bodyHash)) return null;
  return { org: org as OrgId, seq: Number(seq), bodyHash };
};
