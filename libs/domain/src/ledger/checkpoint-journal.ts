import type { Checkpoint, Digest } from '#libs/crypto';
import {
  appendEvents,
  type CommandMetadata,
  decodeEvent,
  type EventStore,
  type ExpectedRevision,
  type OrgId,
  RevisionConflict,
  streamOf,
  type Timestamp,
} from '../kernel/index.js';
import type { CheckpointCosigned, CheckpointEvent, CheckpointMade } from './checkpoint.events.js';

export const CHECKPOINTS = 'checkpoints';

/** Events read at once, from the end: between two checkpoints there are few others. */
const PAGE = 32;
/** Of one append; as many witnesses may answer at once. */
const MAX_CONFLICTS = 16;

/** A checkpoint as it was recorded. */
export interface SignedTree {
  readonly checkpoint: Checkpoint;
  readonly note: string;
  readonly at: string;
}

/** What a witness said of a checkpoint. */
export interface Cosignature {
  /** The digest of its verifier key. */
  readonly witness: Digest;
  readonly name: string;
  readonly line: string;
  readonly cosignedAt: Timestamp;
}

/** Where the stream of an organization's checkpoints ends. */
export interface CheckpointTail {
  readonly revision: ExpectedRevision;
  /** What the next checkpoint must extend; null before the first one of an origin. */
  readonly last: SignedTree | null;
  /** Fixed by the first checkpoint, or by the break that was accepted last. Null before. */
  readonly origin: string | null;
  /** Of {@link last}. */
  readonly cosignatures: readonly Cosignature[];
}

const NOTHING_SIGNED: CheckpointTail = { revision: 'no_stream', last: null, origin: null, cosignatures: [] };

/**
 * What was signed about organizations' trees. Read from its end and never folded: an organization that is always at work
 * has half a million checkpoints a year.
 */
export class CheckpointJournal {
  constructor(private readonly store: EventStore) {}

  async tail(org: OrgId): Promise<CheckpointTail> {
    const stream = streamOf(CHECKPOINTS, org);
    const head = (await this.store.heads([stream])).get(stream);
    if (head === undefined) return NOTHING_SIGNED;
    const cosigned: CheckpointCosigned['data'][] = [];
    for await (const { type, data } of this.backwards(stream, head)) {
      if (type === 'CheckpointCosigned') cosigned.push(data);
      if (type === 'CheckpointMade') {
        const cosignatures = cosigned.filter((each) => isOf(each, data)).map(cosignatureOf);
        return { revision: head, last: signedTreeOf(data), origin: data.origin, cosignatures: cosignatures.reverse() };
      }
      if (type === 'LedgerBreakAccepted') return { ...NOTHING_SIGNED, revision: head, origin: data.origin };
    }
    return { ...NOTHING_SIGNED, revision: head };
  }

  /**
   * Records what a witness said, however many checkpoints were made meanwhile.
   * @returns false where that was recorded before
   * @throws {RevisionConflict} where others were quicker too often
   */
  async cosign(org: OrgId, data: CheckpointCosigned['data'], metadata: CommandMetadata): Promise<boolean> {
    for (let conflicts = 0; ; conflicts += 1) {
      const stream = streamOf(CHECKPOINTS, org);
      const head = (await this.store.heads([stream])).get(stream);
      if (head === undefined || (await this.isCosigned(stream, head, data))) return false;
      try {
        await appendEvents(this.store, stream, head, [{ type: 'CheckpointCosigned', data }], metadata);
        return true;
      } catch (error) {
        if (!(error instanceof RevisionConflict) || conflicts === MAX_CONFLICTS) throw error;
      }
    }
  }

  /** All that was said of a checkpoint stands behind it. */
  private async isCosigned(stream: string, head: number, cosigned: CheckpointCosigned['data']): Promise<boolean> {
    for await (const { type, data } of this.backwards(stream, head)) {
      if (type === 'CheckpointCosigned' && data.witness === cosigned.witness && isOf(data, cosigned)) return true;
      if (type === 'CheckpointMade' && isOf(data, cosigned)) return false;
    }
    return false;
  }

  private async *backwards(stream: string, head: number): AsyncGenerator<CheckpointEvent> {
    for (let from = head; from >= 0; from -= PAGE) {
      const page = await this.store.readStream(stream, { direction: 'backwards', from, limit: PAGE });
      for (const recorded of page) yield decodeEvent<CheckpointEvent>(recorded).event;
    }
  }

  /** @throws {RevisionConflict} when something was recorded since the tail was read */
  async append(
    org: OrgId,
    tail: CheckpointTail,
    events: readonly CheckpointEvent[],
    metadata: CommandMetadata,
  ): Promise<void> {
    await appendEvents(this.store, streamOf(CHECKPOINTS, org), tail.revision, events, metadata);
  }
}

export const signedTreeOf = ({ origin, size, root, note, at }: CheckpointMade['data']): SignedTree => ({
  checkpoint: { origin, size, root: Buffer.from(root, 'base64') },
  note,
  at,
});

interface PlaceOfTree {
  readonly origin: string;
  readonly size: number;
}

const isOf = (one: PlaceOfTree, other: PlaceOfTree): boolean => one.origin === other.origin && one.size === other.size;

const cosignatureOf = ({ witness, name, line, cosigned_at }: CheckpointCosigned['data']): Cosignature => ({
  ...{ witness, name, line, cosignedAt: cosigned_at },
});

/** As notes spell it. */
export const rootText = (root: Uint8Array): string => Buffer.from(root).toString('base64');
