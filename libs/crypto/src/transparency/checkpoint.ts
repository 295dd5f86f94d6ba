import { bytesOfBase64, encodeBase64 } from './base64.js';
import { isKeyName } from './key-name.js';
import { HASH_BYTES } from './merkle-hash.js';
import { isCount, readDecimal } from './strict-text.js';

/** Why a note text is no checkpoint, or none that is written. Closed, in the order in which it is judged. */
export type CheckpointReason = 'lines' | 'origin' | 'size' | 'root';

/** A text that is no checkpoint. The message holds nothing of it. */
export class CheckpointError extends Error {
  override readonly name = 'CheckpointError';

  constructor(readonly reason: CheckpointReason) {
    super(`checkpoint refused: ${reason}`);
  }
}

/** A log's tree head: its identity, its number of leaves and the root of its Merkle tree (tlog-checkpoint). */
export interface Checkpoint {
  readonly origin: string;
  /** At most 2^53-1. */
  readonly size: number;
  /** 32 bytes. */
  readonly root: Uint8Array;
}

/** As it was read. Extension lines are opaque; ML-DSA-44 cosignatures do not cover them, and nothing may be built on them. */
export interface ReadCheckpoint extends Checkpoint {
  readonly extensionLines: readonly string[];
}

/**
 * The note text: three lines, no extension lines. The origin must be a key name, because it is the key name of the log's
 * signature, too. Throws `CheckpointError`.
 */
export const encodeCheckpoint = ({ origin, size, root }: Checkpoint): string => {
  if (!isKeyName(origin)) throw new CheckpointError('origin');
  if (!isCount(size)) throw new CheckpointError('size');
  if (root.byteLength !== HASH_BYTES) throw new CheckpointError('root');
  return `${origin}\n${size}\n${encodeBase64(root)}\n`;
};

/**
 * Reads the text of a note as a checkpoint: at least three non-empty lines. The origin is any non-empty line, as the text
 * demands of readers. That a tree of size 0 has the root of the empty tree is a rule for whoever uses it (tlog-witness
 * answers it with another status than a text that is no checkpoint). Throws `CheckpointError`.
 */
export const parseCheckpoint = (text: string): ReadCheckpoint => {
  if (!text.endsWith('\n')) throw new CheckpointError('lines');
  const lines = text.slice(0, -1).split('\n');
  const [origin = '', decimal = '', encoded = '', ...extensionLines] = lines;
  if (lines.length < 3 || lines.includes('')) throw new CheckpointError('lines');
  const size = readDecimal(decimal);
  if (size === null) throw new CheckpointError('size');
  const root = bytesOfBase64(encoded, HASH_BYTES);
  if (root?.byteLength !== HASH_BYTES) throw new CheckpointError('root');
  return { origin, size, root, extensionLines };
};

/** As `parseCheckpoint`, for a caller that has a reason of its own: null for every text that is no checkpoint. */
export const checkpointIn = (text: string): ReadCheckpoint | null => {
  try {
    return parseCheckpoint(text);
  } catch (error) {
    if (error instanceof CheckpointError) return null;
    throw error;
  }
};
