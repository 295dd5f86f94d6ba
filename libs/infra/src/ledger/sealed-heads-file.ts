import { constants, type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDigest } from '#libs/crypto';
import type { Logger, OrgId } from '#libs/domain/kernel';
import { type SealedHead, SealedHeads } from '#libs/domain/ledger';

/** A record is a line of this many bytes, filled up with spaces: written over in place, and never moved. */
const RECORD_BYTES = 128;
const RECORD = /^(org_[0-9a-z]{26}) ([1-9]\d{0,14}):(sha256:[0-9a-f]{64}) *\n?$/;
/** Appended to, so that two writers never take the same place. */
const APPENDING = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;

export const sealedHeadsPath = (stateDir: string): string => join(stateDir, 'sealed-heads');

interface Place {
  readonly head: SealedHead;
  readonly offset: number;
}

/**
 * The file `sealed-heads` of a state directory: a line for each ledger, `org_... seq:body_hash`, as `--head` takes it. One
 * write into the page cache for each append of deeds: it survives the process, and loses at most what a power cut takes,
 * which the database is told of again by the next deed. Readable with `cat`; mode 0600.
 */
export class SealedHeadsFile extends SealedHeads {
  private places = new Map<OrgId, Place>();
  private file: FileHandle | null = null;

  constructor(
    private readonly path: string,
    private readonly logger: Logger,
  ) {
    super();
  }

  /** As the file has it now: an operator may have decided something meanwhile. */
  override async of(org: OrgId): Promise<SealedHead | null> {
    await this.read();
    return this.places.get(org)?.head ?? null;
  }

  override async all(): Promise<readonly SealedHead[]> {
    await this.read();
    return [...this.places.values()].map(({ head }) => head);
  }

  override async remember(head: SealedHead): Promise<void> {
    const known = this.places.get(head.org);
    if (known && known.head.seq >= head.seq) return;
    try {
      await this.write(head, known?.offset);
    } catch (error) {
      this.logger.error('the head of a ledger could not be remembered outside of the database', {
        org_id: head.org,
        seq: String(head.seq),
        error,
      });
    }
  }

  /** An operator's decision: this is where the ledger ends, whatever was remembered. */
  async settle(head: SealedHead): Promise<void> {
    const records = recordsIn(await contentOf(this.path)).filter((record) => record.head?.org === head.org);
    if (records.length === 0) await this.write(head, undefined);
    for (const { offset } of records) await this.write(head, offset);
  }

  async close(): Promise<void> {
    const { file } = this;
    this.file = null;
    await file?.close();
  }

  private async write(head: SealedHead, offset: number | undefined): Promise<void> {
    const line = Buffer.from(`${head.org} ${head.seq}:${head.bodyHash}`.padEnd(RECORD_BYTES - 1) + '\n', 'latin1');
    if (offset === undefined) {
      await this.append(line);
      return this.read();
    }
    this.file ??= await open(this.path, 'r+');
    await this.file.write(line, 0, RECORD_BYTES, offset);
    this.places.set(head.org, { head, offset });
  }

  private async append(line: Buffer): Promise<void> {
    const file = await open(this.path, APPENDING, 0o600);
    try {
      await file.write(line);
      await file.datasync();
    } finally {
      await file.close();
    }
  }

  private async read(): Promise<void> {
    this.places = new Map();
    let damaged = 0;
    for (const { head, offset } of recordsIn(await contentOf(this.path))) {
      if (head === null) damaged += 1;
      else if (head.seq > (this.places.get(head.org)?.head.seq ?? 0)) this.places.set(head.org, { head, offset });
    }
    if (damaged === 0) return;
    this.logger.warn('lines of this file cannot be read, and what they remember of ledgers is lost', {
      path: this.path,
      lines: String(damaged),
    });
  }
}

/** Empty where no ledger of this state directory was sealed yet. */
const contentOf = async (path: string): Promise<Buffer> => {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
};

/** `head` is null where a line was damaged. */
const recordsIn = (content: Buffer): readonly { head: SealedHead | null; offset: number }[] =>
  Array.from({ length: Math.ceil(content.length / RECORD_BYTES) }, (_, index) => {
    const offset = index * RECORD_BYTES;
    return { head: headIn(content.toString('latin1', offset, offset + RECORD_BYTES)), offset };
  });

const headIn = (record: string): SealedHead | null => {
  const [, org, seq, bodyHash] = RECORD.exec(record) ?? [];
  if (org === undefined || seq === undefined || !isDigest(bodyHash)) return null;
  return { org: org as OrgId, seq: Number(seq), bodyHash };
};
