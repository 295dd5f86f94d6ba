import type { EventEnvelope, EventTypes } from '#libs/domain/kernel';
import type { CheckpointEvent } from '#libs/domain/ledger';
import { CheckpointRow, checkpointRowId } from '#libs/infra/read-models';
import type { Projection } from '../projection.js';

const CHECKPOINT_EVENTS: EventTypes<CheckpointEvent> = {
  CheckpointKeyAnnounced: true,
  CheckpointKeyWithdrawn: true,
  CheckpointMade: true,
  LedgerBreakAccepted: true,
};

/** Checkpoints by their size. What is said of keys, and of breaks, is in the events alone. */
export const checkpointsProjection: Projection = {
  name: 'checkpoints',
  version: 1,
  follows: { checkpoints: CHECKPOINT_EVENTS },
  rowTypes: [CheckpointRow],

  async project(events, rows) {
    const made = events.flatMap(checkpointRows);
    // Of one id the last row: an upsert names each once.
    await rows.upsert(CheckpointRow, [...new Map(made.map((row) => [row.id, row])).values()]);
  },
};

const checkpointRows = (envelope: EventEnvelope): readonly CheckpointRow[] => {
  const { type, data } = envelope.event as CheckpointEvent;
  if (type !== 'CheckpointMade') return [];
  const { org, origin, size, root, note, at: madeAt } = data;
  return [{ id: checkpointRowId(origin, size), org, origin, size, root, note, madeAt }];
};
