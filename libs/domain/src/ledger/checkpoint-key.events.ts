import type { Timestamp } from '../kernel/index.js';

/** Events of the stream `checkpointkeys`, which is the deployment's. What an organization's chain says of a key is its own event. */
export type CheckpointKeyEvent =
  | { type: 'CheckpointKeyRegistered'; data: { public_key: string; activated_at: Timestamp; at: Timestamp } }
  | { type: 'CheckpointKeyRetired'; data: { public_key: string; retired_at: Timestamp; at: Timestamp } };
