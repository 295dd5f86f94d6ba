import type { Clock, EventStore, Position } from '#libs/domain/kernel';

/** One thing that the service needs. What is wrong goes to the log; the answer shows statuses only (document 1, health). */
export interface HealthCheck {
  /** As the answer names it. */
  readonly name: string;
  /** Rejects when the thing cannot be used at all: `down`. */
  readonly check: () => Promise<'ok' | 'degraded'>;
}

/** Anything that answers a query, such as a pool of connections. */
interface Database {
  query(text: string): Promise<unknown>;
}

export const databaseCheck = (database: Database): HealthCheck => ({
  name: 'database',
  check: async () => {
    await database.query('SELECT 1');
    return 'ok';
  },
});

export const eventStoreCheck = (store: Pick<EventStore, 'requireUsable'>): HealthCheck => ({
  name: 'event_store',
  check: async () => {
    await store.requireUsable();
    return 'ok';
  },
});

/** A list waits this long for its projections before it answers what it has (architecture, 'What a decision reads'). */
const PROJECTION_PATIENCE_MS = 2_000;
/** Remembered heads; health is asked once a second at most. */
const MAX_SAMPLES = 64;

export interface ProjectionSource {
  readonly head: () => Promise<Position>;
  /** The position up to which the slowest projection has come. */
  readonly projected: () => Promise<Position>;
  readonly clock: Clock;
}

/**
 * `degraded` when a projection has still not reached what the log held two seconds ago. A plain distance would call a
 * busy service sick: under load there is always something on the way.
 */
export const projectionsCheck = ({ head, projected, clock }: ProjectionSource): HealthCheck => {
  const isLate = latenessOf({ head, reached: projected, clock }, PROJECTION_PATIENCE_MS);
  return { name: 'projections', check: async () => ((await isLate()) ? 'degraded' : 'ok') };
};

interface Progress {
  readonly head: () => Promise<Position>;
  readonly reached: () => Promise<Position>;
  readonly clock: Clock;
}

/** Whether what the log held so long ago has still not been reached. To be asked again and again. */
const latenessOf = ({ head, reached, clock }: Progress, patienceMs: number): (() => Promise<boolean>) => {
  let samples: { readonly atMs: number; readonly head: Position }[] = [];
  return async () => {
    const position = await reached();
    samples.push({ atMs: clock.monotonicMs(), head: await head() });
    // What has been reached can no longer be late.
    samples = samples.filter((sample) => sample.head > position).slice(-MAX_SAMPLES);
    const [oldest] = samples;
    return oldest !== undefined && clock.monotonicMs() - oldest.atMs >= patienceMs;
  };
};

export interface SealingSource {
  /** Whether a seal key is valid now. */
  readonly hasActiveKey: () => Promise<boolean>;
  /** Organizations that the sealer could not go on with. */
  readonly parked: () => Promise<readonly unknown[]>;
  readonly head: () => Promise<Position>;
  /** The position up to which the sealer says that everything is sealed or parked. */
  readonly sealed: () => Promise<Position>;
  /** Longer than a sealer takes to say so. */
  readonly patienceMs: number;
  readonly clock: Clock;
}

/**
 * `degraded` when outcomes are recorded and cannot be sealed: no key is active, an organization's ledger cannot go on, or
 * nobody seals what the log held a while ago. Refusals then end with 503, and after a while everything.
 */
export const sealingCheck = ({ hasActiveKey, parked, sealed, patienceMs, ...log }: SealingSource): HealthCheck => {
  const isLate = latenessOf({ ...log, reached: sealed }, patienceMs);
  return {
    name: 'sealing',
    check: async () => {
      // Asked each time: it looks back on what it saw before.
      const late = await isLate();
      return !late && (await hasActiveKey()) && (await parked()).length === 0 ? 'ok' : 'degraded';
    },
  };
};
