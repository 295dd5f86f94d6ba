import { setMaxListeners } from 'node:events';
import type { DataSource } from 'typeorm';
import type { Bus, Clock, EventStore, Logger } from '#libs/domain/kernel';
import type { PostgresLeases } from '#libs/infra/leases';
import { RepeatedFault } from '#libs/infra/logging';
import { type LocalProjections, ProjectionDatabase, PublicEventPruning } from '#libs/infra/read-models';
import { neededByWebhooks } from '#libs/infra/webhooks';
import { PublicEventKeeper } from './events/public-event-keeper.js';
import { BATCH_TIMEOUT_MS, openProjectionSource } from './projection-source.js';
import { ProjectionRunner, type ProjectionStatus } from './projection-runner.js';
import { PROJECTIONS } from './projections.js';

/** One connection a projection, so that none waits for another, and one to let old rows go. */
const CONNECTIONS = PROJECTIONS.length + 1;

/** What a projector needs of a deployment. */
export interface ProjectorParts {
  readonly database: { readonly connectionString: string; readonly store: EventStore };
  readonly leases: PostgresLeases;
  readonly localProjections: LocalProjections;
  readonly bus: Pick<Bus, 'publish'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly logger: Logger;
}

/**
 * What a projector process does: keeps every projection running while it has the lease. Of several such processes one
 * projects and the others wait to take over, which they do within 5 s of its end.
 */
export class Projector {
  private readonly stopping = new AbortController();
  private runners: readonly ProjectionRunner[] = [];
  private keeper: PublicEventKeeper | null = null;
  private source: DataSource | null = null;
  private background: Promise<void> = Promise.resolve();

  constructor(private readonly parts: ProjectorParts) {}

  get status(): readonly ProjectionStatus[] {
    return this.runners.map((runner) => runner.status);
  }

  async start(): Promise<void> {
    const { database, leases, localProjections: local, bus, clock, logger: log } = this.parts;
    const source = await openProjectionSource(
      {
        connectionString: database.connectionString,
        applicationName: 'ags projector',
        maxConnections: CONNECTIONS,
        statementTimeoutMs: BATCH_TIMEOUT_MS,
      },
      log,
    );
    this.source = source;
    const { store } = database;
    const ports = { store, database: new ProjectionDatabase(source), local, bus, log };
    this.runners = PROJECTIONS.map((projection) => new ProjectionRunner(projection, ports));
    this.keeper = new PublicEventKeeper(store, new PublicEventPruning(source, clock, neededByWebhooks(source)), log);
    const waiting = new RepeatedFault((fault) => log.error('the projections wait for their database', fault));
    this.background = leases.hold(
      'projections',
      this.stopping.signal,
      (held) => this.project(held),
      (error) => waiting.met(error),
    );
  }

  private async project(held: AbortSignal): Promise<void> {
    // Every projection listens for its end, twice while it pauses: Node warns of more than ten as of a leak.
    setMaxListeners(2 * this.runners.length + 2, held);
    await Promise.all([...this.runners.map((runner) => runner.run(held)), this.keeper?.run(held)]);
  }

  /** Ends after the batches under way. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.background;
    const source = this.source;
    this.source = null;
    await source?.destroy();
  }
}
