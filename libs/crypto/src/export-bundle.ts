import {
  BUNDLE_VERSION,
  type BundleManifest,
  DEEDS_ENTRY,
  encodeDeedLine,
  encodeKeySet,
  encodeManifest,
  fingerprintOf,
  KEYS_ENTRY,
  MANIFEST_ENTRY,
  type SealedDeed,
} from './bundle-format.js';
import type { SealKeyEntry } from './deed-chain.js';
import { writeGzipMember } from './gzip-member.js';
import { TAR_END_BYTES, tarHeader, tarPaddingBytes } from './ustar.js';

/** What its maker knows of a bundle before the first byte: everything but the format and the fingerprints. */
export type BundleRange = Omit<BundleManifest, 'v' | 'keys' | 'count'>;

/** The content of a bundle. */
export interface BundleContent {
  readonly range: BundleRange;
  /** Every key that was ever active, oldest first. */
  readonly keys: readonly SealKeyEntry[];
  /** The deeds of the range in order, from the beginning at each call: the range is immutable, so each gives the same. */
  readonly deeds: () => AsyncIterable<SealedDeed>;
  /** The sum of `deedLineBytes` over the range when it is known; without it the deeds are read twice. */
  readonly deedsBytes?: number;
}

/** The deeds that came are not the ones the range promised. The bundle stays cut, so no verifier calls it intact. */
export class BundleSourceError extends Error {
  override readonly name = 'BundleSourceError';
}

/**
 * Writes an export bundle as a stream: gzip around a tar of manifest.json, keys.json and deeds.ndjson. The same content
 * gives the same tar on every machine. One deed is held at a time. A tar entry states its size before its content, so
 * the deeds are measured in a first pass unless `deedsBytes` is given.
 * Throws `RangeError` at once for a contradictory range, and `BundleSourceError` in the stream when the deeds do not
 * match it.
 */
export const writeBundle = (content: BundleContent): AsyncGenerator<Uint8Array> => {
  const { range, keys } = content;
  const count = range.first_seq === null || range.last_seq === null ? 0 : range.last_seq - range.first_seq + 1;
  const manifest = encodeManifest({ ...range, v: BUNDLE_VERSION, count, keys: keys.map(fingerprintOf) });
  return writeGzipMember(writeTar(content, manifest, encodeKeySet(keys)));
};

async function* writeTar(content: BundleContent, manifest: Buffer, keySet: Buffer): AsyncGenerator<Uint8Array> {
  yield* writeEntry(MANIFEST_ENTRY, manifest);
  yield* writeEntry(KEYS_ENTRY, keySet);
  const sizeBytes = content.deedsBytes ?? (await measure(content));
  yield tarHeader(DEEDS_ENTRY, sizeBytes);
  let writtenBytes = 0;
  for await (const line of deedLines(content)) {
    writtenBytes += line.length;
    if (writtenBytes > sizeBytes) throw new BundleSourceError('the deeds are longer than was said');
    yield line;
  }
  if (writtenBytes !== sizeBytes) throw new BundleSourceError('the deeds are shorter than was said');
  yield Buffer.alloc(tarPaddingBytes(sizeBytes) + TAR_END_BYTES);
}

function* writeEntry(name: string, bytes: Buffer): Generator<Uint8Array> {
  yield tarHeader(name, bytes.length);
  yield bytes;
  yield Buffer.alloc(tarPaddingBytes(bytes.length));
}

const measure = async (content: BundleContent): Promise<number> => {
  let sizeBytes = 0;
  for await (const line of deedLines(content)) sizeBytes += line.length;
  return sizeBytes;
};

/** The lines of the range, refused as soon as a deed is not the next one. */
async function* deedLines({ range, deeds }: BundleContent): AsyncGenerator<Buffer> {
  let nextSeq = range.first_seq ?? 1;
  const lastSeq = range.last_seq ?? 0;
  for await (const deed of deeds()) {
    if (deed.seq !== nextSeq || deed.seq > lastSeq) throw new BundleSourceError(`deed ${deed.seq} is not the next one`);
    yield encodeDeedLine(deed);
    nextSeq += 1;
  }
  if (nextSeq <= lastSeq) throw new BundleSourceError(`deed ${nextSeq} is missing`);
}
