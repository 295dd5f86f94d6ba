import type { Checkpoint } from '#libs/crypto';
import {
  appendEvents,
  type CommandMetadata,
  decodeEvent,
  type EventStore,
  type ExpectedRevision,
  type OrgId,
  streamOf,
} from '../kernel/index.js';
import type { CheckpointEvent, CheckpointMade } from './checkpoint.events.js';

export const CHECKPOINTS = 'checkpoints';

/** Events read at once, from the end: between two checkpoints there are few others. */
const PAGE = 32;

/** A checkpoint as it was recorded. */
export interface SignedTree {
  readonly checkpoint: Checkpoint;
  readonly note: string;
  readonly at: string;
}

/** Where the stream of an organization's checkpoints ends. */
export interface CheckpointTail {
  readonly revision: ExpectedRevision;
  /** What the next checkpoint must extend; null before the first one of an origin. */
  readonly last: SignedTree | null;
  /** Fixed by the first checkpoint, or by the break that was accepted last. Null before. */
  readonly origin: string | null;
}

const NOTHING_SIGNED: CheckpointTail = { revision: 'no_stream', last: null, origin: null };

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
    for (let from = head; from >= 0; from -= PAGE) {
      const page = await this.store.readStream(stream, { direction: 'backwards', from, limit: PAGE });
      for (const recorded of page) {
        const { type, data } = decodeEvent<CheckpointEvent>(recorded).event;
        if (type === 'CheckpointMade') return { revision: head, last: signedTreeOf(data), origin: data.origin };
        if (type === 'LedgerBreakAccepted') return { revision: head, last: null, origin: data.origin };
      }
    }
    return { revision: head, last: null, origin: null };
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

/** As notes spell it. */
export const rootText = (root: Uint8Array): string => Buffer.from(root).toString('base64');
