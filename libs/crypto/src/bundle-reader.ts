import {
  type BundleFile,
  type BundleManifest,
  DEEDS_ENTRY,
  fingerprintOf,
  KEYS_ENTRY,
  MANIFEST_ENTRY,
  MAX_KEYS_BYTES,
  MAX_LINE_BYTES,
  MAX_MANIFEST_BYTES,
  parseKeySet,
  parseManifest,
  PAYLOADS_ENTRY,
} from './bundle-format.js';
import { BundleFormatError } from './bundle-format-error.js';
import type { SealKeyEntry } from './deed-chain.js';
import { readGzipMember } from './gzip-member.js';
import { MAX_PAYLOAD_LINE_BYTES } from './payload-line.js';
import { readTarHeader, TAR_BLOCK_BYTES, TAR_END_BYTES, tarPaddingBytes } from './ustar.js';

const LINE_FEED = 0x0a;

/** Whole lines of deeds.ndjson or payloads.ndjson, one behind the other, each with its line feed. */
export interface LineBlock {
  readonly bytes: Buffer;
  /** How many they are. */
  readonly count: number;
}

/** The lines of a block without their line feeds. */
export function* linesOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(LINE_FEED, start);
    yield bytes.subarray(start, end);
    start = end + 1;
  }
}

/**
 * Reads a bundle front to back with flat memory. Call `manifest`, `keys` and `deeds` once each, in this order, then `file`
 * or `payloads` for each file that the manifest lists, and `end`; only then was the whole file judged. Every refusal is a
 * `BundleFormatError`.
 */
export class BundleReader {
  private readonly bytes: ByteReader;
  /** Of the entry that was read last, where it is judged with what follows. */
  private padding = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.bytes = new ByteReader(ahead(readGzipMember(source)));
  }

  async manifest(): Promise<BundleManifest> {
    const manifest = parseManifest(await this.entry(MANIFEST_ENTRY, MAX_MANIFEST_BYTES));
    if (manifest === null) throw new BundleFormatError('bad_manifest');
    return manifest;
  }

  /** The keys of keys.json, which must be the ones whose fingerprints the manifest lists. */
  async keys(manifest: BundleManifest): Promise<SealKeyEntry[]> {
    const keys = parseKeySet(await this.entry(KEYS_ENTRY, MAX_KEYS_BYTES));
    if (keys === null || keys.map(fingerprintOf).join() !== manifest.keys.join())
      throw new BundleFormatError('bad_keys');
    return keys;
  }

  /** The lines of deeds.ndjson as they arrive. */
  deeds(): AsyncGenerator<LineBlock> {
    return this.lines(DEEDS_ENTRY, MAX_LINE_BYTES, 'bad_line');
  }

  /** The lines of payloads.ndjson as they arrive. */
  payloads(): AsyncGenerator<LineBlock> {
    return this.lines(PAYLOADS_ENTRY, MAX_PAYLOAD_LINE_BYTES, 'bad_evidence');
  }

  /** A file of at most so many bytes. */
  async file(name: BundleFile, maxBytes: number): Promise<Buffer> {
    const sizeBytes = await this.header(name);
    if (sizeBytes > maxBytes) throw new BundleFormatError('bad_tar');
    this.padding = tarPaddingBytes(sizeBytes);
    return this.bytes.take(sizeBytes);
  }

  /** Judges the end of the archive and of the file. */
  async end(): Promise<void> {
    await this.zeros(this.padding + TAR_END_BYTES);
    if (!(await this.bytes.isAtEnd())) throw new BundleFormatError('bad_tar');
  }

  /** Stops reading; the source is closed. */
  async close(): Promise<void> {
    await this.bytes.close();
  }

  private async *lines(
    name: string,
    maxLineBytes: number,
    fault: 'bad_line' | 'bad_evidence',
  ): AsyncGenerator<LineBlock> {
    const sizeBytes = await this.header(name);
    for (let leftBytes = sizeBytes; leftBytes > 0;) {
      const block = this.bytes.takeLines(leftBytes, maxLineBytes);
      leftBytes -= block.bytes.length;
      if (block.count > 0) yield block;
      else if (this.bytes.arrived >= Math.min(leftBytes, maxLineBytes)) throw new BundleFormatError(fault);
      else await this.bytes.more();
    }
    this.padding = tarPaddingBytes(sizeBytes);
  }

  private async entry(name: string, maxBytes: number): Promise<Buffer> {
    const sizeBytes = await this.header(name);
    if (sizeBytes > maxBytes) throw new BundleFormatError('bad_tar');
    const content = await this.bytes.take(sizeBytes);
    await this.zeros(tarPaddingBytes(sizeBytes));
    return content;
  }

  private async header(name: string): Promise<number> {
    const padding = this.padding;
    this.padding = 0;
    await this.zeros(padding);
    const sizeBytes = readTarHeader(await this.bytes.take(TAR_BLOCK_BYTES), name);
    if (sizeBytes === null) throw new BundleFormatError('bad_tar');
    return sizeBytes;
  }

  private async zeros(count: number): Promise<void> {
    const bytes = await this.bytes.take(count);
    if (bytes.some((byte) => byte !== 0)) throw new BundleFormatError('bad_tar');
  }
}

/** Asks for the next item before it gives one out, so that the next is made while this one is used. */
async function* ahead<Item>(source: AsyncGenerator<Item>): AsyncGenerator<Item> {
  try {
    for (let asked = source.next(); ;) {
      const given = await asked;
      if (given.done === true) return;
      asked = source.next();
      // Nobody waits for it yet, and a failure that nobody waits for would end the process.
      asked.catch(() => undefined);
      yield given.value;
    }
  } finally {
    await source.return(undefined);
  }
}

/** Takes exact amounts out of a stream of chunks. A stream that ends first is `truncated`. */
class ByteReader {
  private buffered: Buffer = Buffer.alloc(0);

  constructor(private readonly source: AsyncGenerator<Buffer>) {}

  async take(count: number): Promise<Buffer> {
    while (this.buffered.length < count) await this.more();
    return this.shift(count);
  }

  /** Bytes that have arrived and were not taken. */
  get arrived(): number {
    return this.buffered.length;
  }

  /** The next lines that have arrived whole within the next `maxBytes`, none of them longer than `maxLineBytes`. */
  takeLines(maxBytes: number, maxLineBytes: number): LineBlock {
    let [count, start] = [0, 0];
    for (;;) {
      const end = this.buffered.indexOf(LINE_FEED, start);
      if (end < 0 || end >= Math.min(maxBytes, start + maxLineBytes)) break;
      count += 1;
      start = end + 1;
    }
    return { bytes: this.shift(start), count };
  }

  async isAtEnd(): Promise<boolean> {
    if (this.buffered.length > 0) return false;
    const { done } = await this.source.next();
    return done === true;
  }

  async close(): Promise<void> {
    await this.source.return(undefined);
  }

  async more(): Promise<void> {
    const next = await this.source.next();
    if (next.done === true) throw new BundleFormatError('truncated');
    this.buffered = this.buffered.length === 0 ? next.value : Buffer.concat([this.buffered, next.value]);
  }

  private shift(count: number): Buffer {
    const taken = this.buffered.subarray(0, count);
    this.buffered = this.buffered.subarray(count);
    return taken;
  }
}
