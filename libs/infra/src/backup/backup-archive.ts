import { createHash, type Hash } from 'node:crypto';
import {
  BundleFormatError,
  readGzipMember,
  readTarHeader,
  TAR_BLOCK_BYTES,
  TAR_END_BYTES,
  tarHeader,
  tarPaddingBytes,
  writeGzipMember,
} from '#libs/crypto';
import { damaged } from './backup-error.js';

/** A file inside a backup. Its content has exactly `sizeBytes`. */
export interface BackupEntry {
  readonly name: string;
  readonly sizeBytes: number;
  readonly content: AsyncIterable<Buffer> | Iterable<Buffer>;
}

/** The last entry: SHA-256, in hex, of every byte of the archive before its own header. */
const CHECKSUM = 'SHA256';
/** Nothing that leads out of a folder. */
const NAME = /^(?!.*(?:^|\/)\.\.?(?:\/|$))[A-Za-z0-9_.-]+(?:\/[A-Za-z0-9_.-]+)*$/;
const NAME_MAX_CHARACTERS = 100;

/** One gzip member with a tar archive in it, as `tar xzf` reads it, that ends with its own checksum. */
export const writeArchive = (entries: AsyncIterable<BackupEntry>): AsyncGenerator<Uint8Array> =>
  writeGzipMember(archived(entries));

const archived = async function* (entries: AsyncIterable<BackupEntry>): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  for await (const entry of entries) {
    for await (const piece of framed(entry)) {
      hash.update(piece);
      yield piece;
    }
  }
  const checksum = Buffer.from(hash.digest('hex'));
  yield* framed({ name: CHECKSUM, sizeBytes: checksum.byteLength, content: [checksum] });
  yield Buffer.alloc(TAR_END_BYTES);
};

const framed = async function* ({ name, sizeBytes, content }: BackupEntry): AsyncGenerator<Buffer> {
  if (!NAME.test(name) || name.length > NAME_MAX_CHARACTERS) throw new Error(`${name} has no place in a backup`);
  yield tarHeader(name, sizeBytes);
  yield* content;
  yield Buffer.alloc(tarPaddingBytes(sizeBytes));
};

/**
 * The entries of an archive, one after the other; the content of each is taken before the next. Whoever reads must read to
 * the end before it believes: only there is the checksum compared.
 * @throws {BackupError} cut, changed, or no backup at all
 */
export const readArchive = async function* (source: AsyncIterable<Uint8Array>): AsyncGenerator<BackupEntry> {
  const bytes = new TakenBytes(readGzipMember(source));
  for (;;) {
    const before = bytes.digest();
    const header = await bytes.take(TAR_BLOCK_BYTES);
    const name = header.toString('latin1', 0, NAME_MAX_CHARACTERS).replace(/\0.*$/s, '');
    const sizeBytes = NAME.test(name) ? readTarHeader(header, name) : null;
    if (sizeBytes === null) throw damaged('it is laid out in another way');
    if (name === CHECKSUM) {
      if ((await bytes.take(sizeBytes)).toString('latin1') !== before) throw damaged('its checksum does not match');
      await bytes.take(tarPaddingBytes(sizeBytes) + TAR_END_BYTES);
      return await bytes.expectEnd();
    }
    yield { name, sizeBytes, content: bytes.pieces(sizeBytes) };
    await bytes.take(tarPaddingBytes(sizeBytes));
  }
};

/** Bytes in pieces of the length that is asked for, whatever pieces they come in; all of them are summed up. */
class TakenBytes {
  private readonly source: AsyncIterator<Buffer>;
  private readonly hash: Hash = createHash('sha256');
  private pending: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.source = source[Symbol.asyncIterator]();
  }

  /** SHA-256 of everything that was taken so far. */
  digest(): string {
    return this.hash.copy().digest('hex');
  }

  async take(count: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of this.pieces(count)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  async *pieces(count: number): AsyncGenerator<Buffer> {
    for (let missing = count; missing > 0;) {
      if (this.pending.byteLength === 0) await this.refill();
      const piece = this.pending.subarray(0, missing);
      this.pending = this.pending.subarray(piece.byteLength);
      missing -= piece.byteLength;
      this.hash.update(piece);
      yield piece;
    }
  }

  async expectEnd(): Promise<void> {
    if (this.pending.byteLength > 0 || (await this.next()) !== null) throw damaged('something follows its end');
  }

  private async refill(): Promise<void> {
    const next = await this.next();
    if (next === null) throw damaged('it ends early');
    this.pending = next;
  }

  private async next(): Promise<Buffer | null> {
    try {
      const next = await this.source.next();
      return next.done === true ? null : next.value;
    } catch (error) {
      if (!(error instanceof BundleFormatError)) throw error;
      throw damaged(error.reason === 'truncated' ? 'it ends early' : 'its bytes were changed', { cause: error });
    }
  }
}
