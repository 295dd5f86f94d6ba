import {
  BUNDLE_VERSION,
  type BundleFile,
  type BundleManifest,
  CHECKPOINT_ENTRY,
  DEEDS_ENTRY,
  encodeDeedLine,
  encodeKeySet,
  encodeManifest,
  fingerprintOf,
  FIRST_BUNDLE_VERSION,
  KEYS_ENTRY,
  MANIFEST_ENTRY,
  PAYLOADS_ENTRY,
  RANGE_ENTRY,
  type SealedDeed,
} from './bundle-format.js';
import { encodeRange } from './bundle-range.js';
import type { SealKeyEntry } from './deed-chain.js';
import { writeGzipMember } from './gzip-member.js';
import type { LedgerRange } from './transparency/ledger-range.js';
import { TAR_END_BYTES, tarHeader, tarPaddingBytes } from './ustar.js';

/** What its maker knows of a bundle before the first byte: everything but the format and the fingerprints. */
export type BundleRange = Omit<BundleManifest, 'v' | 'keys' | 'count' | 'files'>;

/** A signed checkpoint that covers the deeds of a bundle, and what binds them to it. */
export interface CoveringCheckpoint {
  /** The note with every cosignature. */
  readonly note: string;
  readonly range: LedgerRange;
}

/** The lines of payloads.ndjson as `encodePayloadLine` gives them, in the order of docs/deed-format.md. */
export interface BundleEvidence {
  /** Those of one deed. Asked twice where they are many: the second time it must give the same. */
  of(deed: SealedDeed): Promise<readonly Uint8Array[]>;
  /** Those of no deed. Asked when all deeds have passed. */
  rest(): Promise<readonly Uint8Array[]>;
}

/** What a bundle of the second format holds behind its deeds; null for what it has not. */
export interface BundleAdditions {
  readonly checkpoint: CoveringCheckpoint | null;
  readonly evidence: BundleEvidence | null;
}

/** The content of a bundle. */
export interface BundleContent {
  readonly range: BundleRange;
  /** Every key that was ever active, oldest first. */
  readonly keys: readonly SealKeyEntry[];
  /** The deeds of the range in order, from the beginning at each call: the range is immutable, so each gives the same. */
  readonly deeds: () => AsyncIterable<SealedDeed>;
  /** The sum of `deedLineBytes` over the range when it is known; without it the deeds are read twice. */
  readonly deedsBytes?: number;
  /** Makes it a bundle of the second format, also when both are null. */
  readonly additions?: BundleAdditions;
}

/** The deeds that came are not the ones the range promised. The bundle stays cut, so no verifier calls it intact. */
export class BundleSourceError extends Error {
  override readonly name = 'BundleSourceError';
}

/**
 * Writes an export bundle as a stream: gzip around a tar of manifest.json, keys.json, deeds.ndjson and what is added. The
 * same content gives the same tar on every machine. One deed and what stands for it is held at a time, and at most
 * `KEPT_EVIDENCE_BYTES`. A tar entry states its size before its content, so the deeds are measured in a first pass unless
 * `deedsBytes` is given, and the evidence while the deeds are written; what is too long to be kept meanwhile is read again.
 * Throws `RangeError` at once for a contradictory range, and `BundleSourceError` in the stream when the deeds do not
 * match it, or the evidence has changed between its two readings.
 */
export const writeBundle = (content: BundleContent): AsyncGenerator<Uint8Array> => {
  const { range, keys, additions } = content;
  const count = range.first_seq === null || range.last_seq === null ? 0 : range.last_seq - range.first_seq + 1;
  const common = { ...range, count, keys: keys.map(fingerprintOf) };
  const manifest = encodeManifest(
    additions === undefined
      ? { ...common, v: FIRST_BUNDLE_VERSION }
      : { ...common, v: BUNDLE_VERSION, files: filesIn(additions) },
  );
  return writeGzipMember(writeTar(content, manifest, encodeKeySet(keys)));
};

const filesIn = ({ checkpoint, evidence }: BundleAdditions): BundleFile[] => [
  ...(checkpoint === null ? [] : ([CHECKPOINT_ENTRY, RANGE_ENTRY] as const)),
  ...(evidence === null ? [] : ([PAYLOADS_ENTRY] as const)),
];

async function* writeTar(content: BundleContent, manifest: Buffer, keySet: Buffer): AsyncGenerator<Uint8Array> {
  const { checkpoint = null, evidence = null } = content.additions ?? {};
  const lines = evidence === null ? null : new EvidenceLines(evidence);
  yield* writeEntry(MANIFEST_ENTRY, manifest);
  yield* writeEntry(KEYS_ENTRY, keySet);
  yield* writeDeeds(content, lines);
  if (checkpoint !== null) {
    yield* writeEntry(CHECKPOINT_ENTRY, Buffer.from(checkpoint.note));
    yield* writeEntry(RANGE_ENTRY, Buffer.from(encodeRange(checkpoint.range)));
  }
  if (lines !== null) yield* writeSized(PAYLOADS_ENTRY, await lines.close(), lines.read(content.deeds));
  yield Buffer.alloc(TAR_END_BYTES);
}

async function* writeDeeds(content: BundleContent, evidence: EvidenceLines | null): AsyncGenerator<Uint8Array> {
  const sizeBytes = content.deedsBytes ?? (await measure(content));
  yield* writeSized(
    DEEDS_ENTRY,
    sizeBytes,
    deedLines(content, async (deed) => evidence?.add(deed)),
  );
}

/** An entry whose size was measured before. */
async function* writeSized(
  name: string,
  sizeBytes: number,
  lines: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield tarHeader(name, sizeBytes);
  let writtenBytes = 0;
  for await (const line of lines) {
    writtenBytes += line.length;
    if (writtenBytes > sizeBytes) throw new BundleSourceError(`${name} is longer than was said`);
    yield line;
  }
  if (writtenBytes !== sizeBytes) throw new BundleSourceError(`${name} is shorter than was said`);
  yield Buffer.alloc(tarPaddingBytes(sizeBytes));
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
async function* deedLines(
  { range, deeds }: BundleContent,
  watch: (deed: SealedDeed) => Promise<void> | void = () => undefined,
): AsyncGenerator<Buffer> {
  let nextSeq = range.first_seq ?? 1;
  const lastSeq = range.last_seq ?? 0;
  for await (const deed of deeds()) {
    if (deed.seq !== nextSeq || deed.seq > lastSeq) throw new BundleSourceError(`deed ${deed.seq} is not the next one`);
    yield encodeDeedLine(deed);
    await watch(deed);
    nextSeq += 1;
  }
  if (nextSeq <= lastSeq) throw new BundleSourceError(`deed ${nextSeq} is missing`);
}

/** What is kept of the evidence, so that it need not be read again. */
const KEPT_EVIDENCE_BYTES = 8_388_608;

/** The lines of evidence: measured while the deeds pass, then given from memory, or read again where they were too long. */
class EvidenceLines {
  private sizeBytes = 0;
  private kept: Uint8Array[] | null = [];

  constructor(private readonly evidence: BundleEvidence) {}

  async add(deed: SealedDeed): Promise<void> {
    this.measure(await this.evidence.of(deed));
  }

  /** The size of all lines. */
  async close(): Promise<number> {
    this.measure(await this.evidence.rest());
    return this.sizeBytes;
  }

  async *read(deeds: () => AsyncIterable<SealedDeed>): AsyncGenerator<Uint8Array> {
    if (this.kept !== null) return void (yield* this.kept);
    for await (const deed of deeds()) yield* await this.evidence.of(deed);
    yield* await this.evidence.rest();
  }

  private measure(lines: readonly Uint8Array[]): void {
    for (const { length } of lines) this.sizeBytes += length;
    if (this.sizeBytes > KEPT_EVIDENCE_BYTES) this.kept = null;
    this.kept?.push(...lines);
  }
}
