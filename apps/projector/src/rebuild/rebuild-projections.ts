import type { DataSource } from 'typeorm';
import { shareOfLog, type EventStore, type Logger, type Position } from '#libs/domain/kernel';
import type { PostgresLeases } from '#libs/infra/leases';
import { OtherIdentity, type ProjectionName, type RebuildReport } from '#libs/infra/read-models';
import { UnreadableEvent, type Projection } from '../projection.js';
import { NO_TIMEOUT, openProjectionSource } from '../projection-source.js';
import { PROJECTIONS } from '../projections.js';
import { ProjectionRebuild } from './projection-rebuild.js';

/** One writes a page while the other reads rows for the next. */
const CONNECTIONS = 2;
const LEASE = 'rebuild';

/** What a rebuild needs of a deployment. */
export interface RebuildDeployment {
  readonly database: { readonly connectionString: string; readonly store: EventStore };
  readonly leases: PostgresLeases;
  readonly logger: Logger;
}

/** One projection after the other; ends at the first that cannot be rebuilt. One rebuild at a time in a deployment. */
export const rebuildProjections = async (
  { database, leases, logger }: RebuildDeployment,
  names: readonly ProjectionName[],
  report: (report: RebuildReport) => void,
  interrupted: AbortSignal,
): Promise<void> => {
  const lease = await leases.tryTake(LEASE);
  if (!lease) return report({ type: 'busy' });
  const { connectionString, store } = database;
  const source = await openProjectionSource(
    { connectionString, applicationName: 'ags rebuild', maxConnections: CONNECTIONS, statementTimeoutMs: NO_TIMEOUT },
    logger,
  );
  try {
    for (const projection of PROJECTIONS.filter(({ name }) => names.includes(name))) {
      if (!(await rebuilt(projection, { store, source, interrupted }, report))) return;
    }
  } finally {
    await source.destroy();
    await lease.release();
  }
};

const rebuilt = async (
  projection: Projection,
  parts: { readonly store: EventStore; readonly source: DataSource; readonly interrupted: AbortSignal },
  report: (report: RebuildReport) => void,
): Promise<boolean> => {
  const { name } = projection;
  const begunMs = performance.now();
  const head = await parts.store.head();
  const onRebuilding = (events: number, position: Position): void =>
    report({ type: 'progress', projection: name, events, share: shareOfLog(position, head) });
  try {
    const { events } = await new ProjectionRebuild(projection, parts, onRebuilding).run();
    report({ type: 'rebuilt', projection: name, events, duration_ms: Math.round(performance.now() - begunMs) });
    return true;
  } catch (error) {
    if (parts.interrupted.aborted && error === parts.interrupted.reason) {
      report({ type: 'interrupted', projection: name });
      return false;
    }
    if (!(error instanceof UnreadableEvent) && !(error instanceof OtherIdentity)) throw error;
    report({ type: 'failed', projection: name, message: error.message });
    return false;
  }
};
