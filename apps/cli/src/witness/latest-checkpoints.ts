import {
  formatNote,
  judgeNote,
  parseCheckpoint,
  CheckpointError,
  parseSignedNote,
  sha256Hex,
  type SignedNote,
  SignedNoteError,
  timestampOf,
} from '#libs/crypto';
import type { CosignedTree } from './witness-decision.js';
import type { StateFiles } from './state-files.js';
import type { WitnessKey } from './witness-key.js';

/** What a witness said last of a log, and when (POSIX seconds). */
export interface LatestCheckpoint extends CosignedTree {
  readonly timestamp: number;
}

/** The file of a log is not what this witness wrote. Nothing is cosigned for that log until somebody has looked. */
export class DamagedState extends Error {
  override readonly name = 'DamagedState';

  constructor(readonly file: string) {
    super(`${file} is not what this witness wrote`);
  }
}

/**
 * A checkpoint has its name and may not be on disk: what the next read sees may be gone after a loss of power. Only a new
 * start, which syncs the folder first, can say what holds. Nobody may be answered from here on.
 */
export class UncertainState extends Error {
  override readonly name = 'UncertainState';
}

/** SHA-256 of the origin in lowercase hex: the name of the log in a URL and of its file. No origin is part of a path. */
export const originHashOf = (origin: string): string => sha256Hex(origin);

const UNFINISHED = '.new';

/**
 * The latest cosigned checkpoint of each log, one file each: the note with the log's signatures and the witness's own. So
 * the file is what the monitoring URL answers, and whether it was written by this witness can be verified. Nothing is kept
 * in memory. A caller lets nobody else read or write a log meanwhile.
 */
export class LatestCheckpoints {
  constructor(
    private readonly files: StateFiles,
    private readonly key: WitnessKey,
  ) {}

  /** Makes lasting what an ended process has left renamed: before anybody reads. */
  async open(): Promise<void> {
    await this.files.syncFolder();
  }

  /** Null where this witness never cosigned for the origin. @throws {DamagedState} */
  async latest(origin: string): Promise<LatestCheckpoint | null> {
    const file = originHashOf(origin);
    const bytes = await this.files.read(file);
    if (bytes === null) return null;
    const latest = this.#checkpointIn(bytes, origin);
    if (latest === null) throw new DamagedState(file);
    return latest;
  }

  /** The bytes of the note, as they are on disk. */
  note(originHash: string): Promise<Uint8Array | null> {
    return this.files.read(originHash);
  }

  /**
   * Replaces the checkpoint of an origin and returns when that survives a loss of power. Where it fails before the rename, the old
   * one holds. @throws {UncertainState} where it fails later
   */
  async replace(origin: string, note: SignedNote): Promise<void> {
    const file = originHashOf(origin);
    const unfinished = `${file}${UNFINISHED}`;
    await this.files.write(unfinished, Buffer.from(formatNote(note)));
    await this.files.sync(unfinished);
    try {
      await this.files.rename(unfinished, file);
      await this.files.syncFolder();
    } catch (error) {
      throw new UncertainState('a checkpoint may or may not be on disk', { cause: error });
    }
  }

  #checkpointIn(bytes: Uint8Array, origin: string): LatestCheckpoint | null {
    try {
      const note = parseSignedNote(bytes);
      const { verified, failed } = judgeNote(note, [this.key.verifier]);
      const [own] = verified;
      const checkpoint = parseCheckpoint(note.text);
      if (own === undefined || failed.length > 0 || checkpoint.origin !== origin) return null;
      const timestamp = timestampOf(own.signature.signature);
      return timestamp === null ? null : { size: checkpoint.size, root: checkpoint.root, timestamp };
    } catch (error) {
      if (error instanceof SignedNoteError || error instanceof CheckpointError) return null;
      throw error;
    }
  }
}
