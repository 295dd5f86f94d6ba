import { constants, type FileHandle, open, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isDigest } from '#libs/crypto';
import type { Logger, OrgId } from '#libs/domain/kernel';
import { type SealedHead, SealedHeads } from '#libs/domain/ledger';

/** A record is a line of this many bytes, filled up with spaces: written over in place, and never moved. */
const RECORD_BYTES = 128;
const RECORD = /^(org_[0-9a-z]{26}) ([1-9]\d{0,14}):(sha256:[0-9a-f]{64}) *\n?$/;
/** A place that no ledger needs any more. */
const FREE = Buffer.from('\n'.padStart(RECORD_BYTES));
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
  /** How much of the file is in `places`. */
  private readBytes = 0;

  constructor(
    private readonly path: string,
    private readonly logger: Logger,
  ) {
    super();
  }

  /** As the file has it now: an operator may have decided something meanwhile. */
  override async of(org: OrgId): Promise<SealedHead | null> {
    if ((await sizeOf(this.path)) !== this.readBytes) await this.read();
    const place = this.places.get(org);
    if (!place) return null;
    this.file ??= await open(this.path, 'r+');
    const { buffer } = await this.file.read(Buffer.alloc(RECORD_BYTES), 0, RECORD_BYTES, place.offset);
    const head = headIn(buffer.toString('latin1'));
    if (head?.org === org) this.places.set(org, { head, offset: place.offset });
    else this.places.delete(org);
    return head?.org === org ? head : null;
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

  /** An operator's decision: this is where the ledger ends, whatever was remembered; null for one without a deed. */
  async settle(org: OrgId, head: SealedHead | null): Promise<void> {
    const records = recordsIn(await contentOf(this.path)).filter((record) => record.head?.org === org);
    for (const { offset } of records) await this.overwrite(offset, head);
    if (records.length === 0 && head !== null) await this.append(lineOf(head));
    await this.read();
  }

  async close(): Promise<void> {
    const { file } = this;
    this.file = null;
    await file?.close();
  }

  private async write(head: SealedHead, offset: number | undefined): Promise<void> {
    if (offset !== undefined) {
      await this.overwrite(offset, head);
      this.places.set(head.org, { head, offset });
    } else {
      await this.append(lineOf(head));
      await this.read();
    }
  }

  private async overwrite(offset: number, head: SealedHead | null): Promise<void> {
    this.file ??= await open(this.path, 'r+');
    await this.file.write(head === null ? FREE : lineOf(head), 0, RECORD_BYTES, offset);
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
    const content = await contentOf(this.path);
    this.places = new Map();
    this.readBytes = content.length;
    let damaged = 0;
    for (const { head, offset } of recordsIn(content)) {
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

const sizeOf = async (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    (error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
      throw error;
    },
  );

/** `head` is null where a line was damaged. */
const recordsIn = (content: Buffer): readonly { head: SealedHead | null; offset: number }[] => {
  const offsets = Array.from({ length: Math.ceil(content.length / RECORD_BYTES) }, (_, index) => index * RECORD_BYTES);
  return offsets
    .map((offset) => ({ line: content.subarray(offset, offset + RECORD_BYTES), offset }))
    .filter(({ line }) => !line.equals(FREE))
    .map(({ line, offset }) => ({ head: headIn(line.toString('latin1')), offset }));
};

const lineOf = ({ org, seq, bodyHash }: SealedHead): Buffer =>
  Buffer.from(`${org} ${seq}:${bodyHash}`.padEnd(RECORD_BYTES - 1) + '\n', 'latin1');

const headIn = (record: string): SealedHead | null => {
  const [, org, seq, bodyHash] = RECORD.exec(record) ?? [];
  if (org === undefined || seq === undefined || !isDigest(bodyHash)) return null;
  return { org: org as OrgId, seq: Number(seq), bodyHash };
};
