import type { Clock } from '#libs/domain/kernel';
import { LedgerReader, PayloadRetention, RetentionReach } from '#libs/domain/ledger';
import { PostgresRetentionRows } from '../gate/index.js';
import type { Deployment } from './deployment.js';

type Rows = Pick<Deployment, 'database'>;

/** Whether a body that is not stored was removed when its days were over. */
export const retentionReachOf = ({ database: { store, durable } }: Rows): RetentionReach =>
  new RetentionReach(store, new PostgresRetentionRows(durable));

/** What removes bodies, for one process at a time. */
export const payloadRetentionOf = (
  { database: { store, durable }, streams, clock }: Rows & Pick<Deployment, 'streams' | 'clock'>,
  now: Pick<Clock, 'nowMs'> = clock,
): PayloadRetention => new PayloadRetention(streams, new LedgerReader(store), new PostgresRetentionRows(durable), now);
