import type { EventEnvelope, EventTypes } from '#libs/domain/kernel';
import type { CheckpointEvent } from '#libs/domain/ledger';
import { CheckpointRow, checkpointRowId, CosignatureRow, cosignatureRowId } from '#libs/infra/read-models';
import type { Projection } from '../projection.js';

const CHECKPOINT_EVENTS: EventTypes<CheckpointEvent> = {
  CheckpointCosigned: true,
  CheckpointKeyAnnounced: true,
  CheckpointKeyWithdrawn: true,
  CheckpointMade: true,
  LedgerBreakAccepted: true,
};

/** Checkpoints by their size, and what witnesses said of them. What is said of keys, and of breaks, is in the events alone. */
export const checkpointsProjection: Projection = {
  name: 'checkpoints',
  version: 2,
  follows: { checkpoints: CHECKPOINT_EVENTS },
  rowTypes: [CheckpointRow, CosignatureRow],

  async project(events, rows) {
    await rows.upsert(CheckpointRow, lastOfEach(events.flatMap(checkpointRows)));
    await rows.upsert(CosignatureRow, lastOfEach(events.flatMap(cosignatureRows)));
  },
};

/** An upsert names each id once. */
const lastOfEach = <Row extends { readonly id: string }>(rows: readonly Row[]): readonly Row[] => [
  ...new Map(rows.map((row) => [row.id, row])).values(),
];

const cosignatureRows = (envelope: EventEnvelope): readonly CosignatureRow[] => {
  const { type, data } = envelope.event as CheckpointEvent;
  if (type !== 'CheckpointCosigned') return [];
  const { org, origin, size, witness, name, line, cosigned_at: cosignedAt } = data;
  return [{ id: cosignatureRowId(origin, size, witness), org, origin, size, witness, name, line, cosignedAt }];
};

const checkpointRows = (envelope: EventEnvelope): readonly CheckpointRow[] => {
  const { type, data } = envelope.event as CheckpointEvent;
  if (type !== 'CheckpointMade') return [];
  const { org, origin, size, root, note, at: madeAt } = data;
  return [{ id: checkpointRowId(origin, size), org, origin, size, root, note, madeAt }];
};
