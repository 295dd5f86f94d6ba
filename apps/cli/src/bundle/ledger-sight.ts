import { readFile } from 'node:fs/promises';
import {
  type Checkpoint,
  CheckpointError,
  completeSubtrees,
  type Digest,
  type LedgerSight,
  parseCheckpoint,
  parseSignedNote,
  SignedNoteError,
} from '#libs/crypto';
import { parseId } from '#libs/domain/kernel';
import { CliError } from '../cli-error.js';
import { readable, reading, requireFile } from './bundle-options.js';
import { unpackedSentence, visible } from '#libs/evidence';

/** What a file shows of a ledger, with the signed note in it, if there is one. */
export interface ShownLedger {
  readonly file: string;
  readonly sight: LedgerSight;
  readonly note: string | null;
}

const GZIP_MAGIC = 0x1f;

/** Whether the file is a bundle, and not a checkpoint. */
export const isBundle = async (file: string): Promise<boolean> => {
  await requireFile(file);
  return (await readable(file, () => readFile(file)))[0] === GZIP_MAGIC;
};

/** A checkpoint as GET /v1/ledger/checkpoint answers it. */
export const sightOfNote = async (file: string): Promise<ShownLedger> => {
  const bytes = await readable(file, () => readFile(file));
  const checkpoint = checkpointIn(bytes);
  const org = checkpoint === null ? null : orgIn(checkpoint.origin);
  if (checkpoint === null || org === null) {
    const next = unpackedSentence(bytes) ?? 'Save what the export or GET /v1/ledger/checkpoint answered.';
    throw new CliError('file_unusable', `${visible(file)} is neither a bundle nor the checkpoint of a ledger. ${next}`);
  }
  return { file, sight: { org, checkpoint, deeds: null }, note: bytes.toString() };
};

const checkpointIn = (bytes: Uint8Array): Checkpoint | null => {
  try {
    return parseCheckpoint(parseSignedNote(bytes).text);
  } catch (error) {
    if (error instanceof SignedNoteError || error instanceof CheckpointError) return null;
    throw error;
  }
};

const orgIn = (origin: string): string | null => {
  const [, id = ''] = /\/ledger\/(org_[0-9a-z]+)/.exec(origin) ?? [];
  return parseId('org', id);
};

/** A bundle that was verified. */
export const sightOfBundle = (file: string): Promise<ShownLedger> =>
  reading(file, async (parts) => {
    const hashes: Digest[] = [];
    let note: Uint8Array | null = null;
    let [org, first, prevHash]: [string, number, Digest | null] = ['', 1, null];
    let left: readonly Uint8Array[] | null = [];
    for await (const part of parts) {
      if (part.part === 'manifest') {
        org = part.manifest.org;
        first = part.manifest.first_seq ?? 1;
        prevHash = part.manifest.prev_hash;
        left = first === 1 ? [] : null;
      }
      if (part.part === 'deed') hashes.push(part.deed.seal.bodyHash);
      if (part.part === 'checkpoint') note = part.note;
      if (part.part === 'range') left = part.range.left;
    }
    const subtrees = completeSubtrees(0, first - 1);
    return {
      file,
      sight: {
        org,
        checkpoint: note === null ? null : checkpointIn(note),
        deeds: {
          ...{ first, prevHash, hashes },
          left: left?.map((hash, index) => ({ level: subtrees[index]?.level ?? 0, hash })) ?? null,
        },
      },
      note: note === null ? null : Buffer.from(note).toString(),
    };
  });
