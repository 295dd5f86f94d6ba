import { shareOfLog, type EventStore, type Logger, type Position } from '#libs/domain/kernel';
import { LogHasHole } from '#libs/infra/event-store';
import type { PostgresLeases } from '#libs/infra/leases';
import { OtherIdentity, type ProjectionName, type RebuildReport, type RebuildTask } from '#libs/infra/read-models';
import { UnreadableEvent, type Projection } from '../projection.js';
import { NO_TIMEOUT, openProjectionSource } from '../projection-source.js';
import { PROJECTIONS } from '../projections.js';
import type { FoldParts, OnFolding } from './fold-beside.js';
import { ProjectionRebuild } from './projection-rebuild.js';
import { ProjectionVerification, RowsBegunAnew } from './projection-verification.js';

/** One writes a page while the other reads rows for the next. */
const CONNECTIONS = 2;
const LEASE = 'rebuild';

/** What a rebuild or a verification needs of a deployment. */
export interface RebuildDeployment {
  readonly database: { readonly connectionString: string; readonly store: EventStore };
  readonly leases: PostgresLeases;
  readonly logger: Logger;
}

type Report = (report: RebuildReport) => void;
type Parts = FoldParts & { readonly interrupted: AbortSignal };

/**
 * One projection after the other. A rebuild ends at the first that cannot be rebuilt; a verification goes on behind one that
 * cannot be compared, unless that is for a reason which all share. One rebuild or verification at a time in a deployment:
 * both make tables beside the live ones.
 */
export const rebuildProjections = async (
  { database, leases, logger }: RebuildDeployment,
  { task, names }: { readonly task: RebuildTask; readonly names: readonly ProjectionName[] },
  report: Report,
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
      if (!(await mayGoOnAfter(task, projection, { store, source, interrupted }, report))) return;
    }
  } finally {
    await source.destroy();
    await lease.release();
  }
};

/** Answers whether there is a point in the next projection. */
const mayGoOnAfter = async (
  task: RebuildTask,
  projection: Projection,
  parts: Parts,
  report: Report,
): Promise<boolean> => {
  const { name } = projection;
  const head = await parts.store.head();
  const onFolding = (events: number, position: Position): void =>
    report({ type: 'progress', projection: name, events, share: shareOfLog(position, head) });
  try {
    await TASKS[task](projection, parts, onFolding, report);
    return true;
  } catch (error) {
    if (parts.interrupted.aborted && error === parts.interrupted.reason) {
      report({ type: 'interrupted', projection: name });
      return false;
    }
    if (error instanceof LogHasHole) {
      report({ type: 'incomplete', projection: name, missing: Number(error.missing) });
      return false;
    }
    if (!isForeseen(error)) throw error;
    report({ type: 'failed', projection: name, message: messageOf(error) });
    return task === 'verify';
  }
};

const isForeseen = (error: unknown): error is Error =>
  error instanceof UnreadableEvent || error instanceof OtherIdentity || error instanceof RowsBegunAnew;

/** What happened, and what to do next. */
const messageOf = (error: Error): string =>
  error instanceof UnreadableEvent
    ? `${error.message} Run \`npm run ags -- audit\`, which says what else is wrong.`
    : error.message;

type Task = (projection: Projection, parts: Parts, onFolding: OnFolding, report: Report) => Promise<void>;

const rebuild: Task = async (projection, parts, onFolding, report) => {
  const begunMs = performance.now();
  const { events } = await new ProjectionRebuild(projection, parts, onFolding).run();
  report({ type: 'rebuilt', projection: projection.name, events, duration_ms: since(begunMs) });
};

const verify: Task = async (projection, parts, onFolding, report) => {
  const { name } = projection;
  const begunMs = performance.now();
  const onComparing = (rows: number, ofRows: number): void =>
    report({ type: 'comparing', projection: name, rows, share: ofRows === 0 ? 1 : rows / ofRows });
  const verified = await new ProjectionVerification(projection, parts, onFolding, onComparing).run();
  const { events, position, rows, differenceCount, differences } = verified;
  report({
    type: 'verified',
    projection: name,
    events,
    position: Number(position),
    rows,
    difference_count: differenceCount,
    differences,
    duration_ms: since(begunMs),
  });
};

const since = (begunMs: number): number => Math.round(performance.now() - begunMs);

const TASKS: Readonly<Record<RebuildTask, Task>> = { rebuild, verify };
