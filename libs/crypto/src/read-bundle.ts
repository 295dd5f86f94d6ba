import {
  type BundleManifest,
  CHECKPOINT_ENTRY,
  filesOf,
  parseDeedLine,
  PAYLOADS_ENTRY,
  RANGE_ENTRY,
  type SealedDeed,
} from './bundle-format.js';
import { BundleFormatError } from './bundle-format-error.js';
import { MAX_RANGE_BYTES, parseRange } from './bundle-range.js';
import { BundleReader, linesOf } from './bundle-reader.js';
import type { SealKeyEntry } from './deed-chain.js';
import { parsePayloadLine, type PayloadLine } from './payload-line.js';
import type { LedgerRange } from './transparency/ledger-range.js';
import { MAX_NOTE_BYTES } from './transparency/signed-note.js';

/** A piece of a bundle, in the order in which it stands there. */
export type BundlePart =
  | { readonly part: 'manifest'; readonly manifest: BundleManifest }
  | { readonly part: 'keys'; readonly keys: readonly SealKeyEntry[] }
  | { readonly part: 'deed'; readonly deed: SealedDeed }
  | { readonly part: 'checkpoint'; readonly note: Uint8Array }
  | { readonly part: 'range'; readonly range: LedgerRange }
  | { readonly part: 'payload'; readonly line: PayloadLine };

/**
 * Reads what a bundle holds, with flat memory, and judges its form alone: no hash, no seal, no link. What it gives means
 * something only where `verifyBundle` called the same bytes intact. Throws `BundleFormatError`.
 */
export async function* readBundle(source: AsyncIterable<Uint8Array>): AsyncGenerator<BundlePart> {
  const reader = new BundleReader(source);
  try {
    const manifest = await reader.manifest();
    yield { part: 'manifest', manifest };
    yield { part: 'keys', keys: await reader.keys(manifest) };
    for await (const { bytes } of reader.deeds()) {
      for (const line of linesOf(bytes)) yield { part: 'deed', deed: parseDeedLine(line) ?? refuse('bad_line') };
    }
    for (const file of filesOf(manifest)) yield* readFile(reader, file);
    await reader.end();
  } finally {
    await reader.close();
  }
}

async function* readFile(reader: BundleReader, file: ReturnType<typeof filesOf>[number]): AsyncGenerator<BundlePart> {
  switch (file) {
    case CHECKPOINT_ENTRY:
      return void (yield { part: 'checkpoint', note: await reader.file(file, MAX_NOTE_BYTES) });
    case RANGE_ENTRY: {
      const range = parseRange(await reader.file(file, MAX_RANGE_BYTES));
      return void (yield { part: 'range', range: range ?? refuse('bad_tar') });
    }
    case PAYLOADS_ENTRY:
      for await (const { bytes } of reader.payloads()) {
        for (const line of linesOf(bytes)) {
          yield { part: 'payload', line: parsePayloadLine(line) ?? refuse('bad_evidence') };
        }
      }
  }
}

const refuse = (reason: BundleFormatError['reason']): never => {
  throw new BundleFormatError(reason);
};
