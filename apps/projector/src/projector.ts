import type { DataSource } from 'typeorm';
import type { Deployment } from '#libs/infra/deployment';
import { ProjectionDatabase, ProjectionLeases, readModelSource } from '#libs/infra/read-models';
import { ProjectionRunner, type ProjectionStatus } from './projection-runner.js';
import { PROJECTIONS } from './projections.js';

/** One connection a projection, so that none waits for another. */
const CONNECTIONS = PROJECTIONS.length;

/** What a projector process does: keeps every projection running, here or in another process. */
export class Projector {
  private source: DataSource | null = null;
  private leases: ProjectionLeases | null = null;
  private runners: readonly ProjectionRunner[] = [];

  constructor(private readonly deployment: Deployment) {}

  get status(): readonly ProjectionStatus[] {
    return this.runners.map((runner) => runner.status);
  }

  async start(): Promise<void> {
    const { database, localProjections: local, logger: log } = this.deployment;
    const { connectionString, store } = database;
    const source = readModelSource({
      connectionString,
      applicationName: 'ags projector',
      maxConnections: CONNECTIONS,
      // A rebuild's clearing of tables takes as long as it takes.
      statementTimeoutMs: 0,
      isDurable: false,
      onError: (error) => log.warn('an idle database connection was lost', { error }),
    });
    await source.initialize();
    this.source = source;
    this.leases = new ProjectionLeases(connectionString);
    const ports = { store, database: new ProjectionDatabase(source), leases: this.leases, local, log };
    this.runners = PROJECTIONS.map((projection) => new ProjectionRunner(projection, ports));
    for (const runner of this.runners) runner.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.runners.map((runner) => runner.stop()));
    await this.leases?.close();
    await this.source?.destroy();
  }
}
