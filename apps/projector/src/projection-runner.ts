import { setTimeout as delay } from 'node:timers/promises';
import { type Bus, type EventStore, type Logger, StoreUnavailable } from '#libs/domain/kernel';
import { RepeatedFault } from '#libs/infra/logging';
import {
  CheckpointMoved,
  type LocalProjections,
  type ProjectionDatabase,
  type ProjectionName,
} from '#libs/infra/read-models';
import { identityOf, UnreadableEvent, type Projection } from './projection.js';
import { ProjectionSession } from './projection-session.js';
import { PROJECTION_DEFAULTS, type ProjectionSettings } from './projection.settings.js';
import { aboveFloor } from './rows-above-floor.js';

/** What every runner of a process shares. */
export interface RunnerPorts {
  readonly store: EventStore;
  readonly database: ProjectionDatabase;
  readonly local: LocalProjections;
  readonly bus: Pick<Bus, 'publish'>;
  readonly log: Logger;
}

export interface ProjectionStatus {
  readonly name: ProjectionName;
  /** Whether it is this process that projects, at this moment. */
  readonly isActive: boolean;
  /** Why it does not move, until it moves again. For the log and for `degraded`; never for a body. */
  readonly failure: string | null;
}

/**
 * Keeps one projection running: resumes from the checkpoint, follows the log, and begins again after every failure, later
 * and later up to 5 s.
 */
export class ProjectionRunner {
  private session: ProjectionSession | null = null;
  private failure: string | null = null;
  private retryMs: number;
  private readonly waiting: RepeatedFault;

  constructor(
    private readonly projection: Projection,
    private readonly ports: RunnerPorts,
    private readonly settings: ProjectionSettings = PROJECTION_DEFAULTS,
  ) {
    this.retryMs = settings.firstRetryMs;
    this.waiting = new RepeatedFault((fault) =>
      ports.log.error('projection waits for its stores', { projection: projection.name, ...fault }),
    );
  }

  get status(): ProjectionStatus {
    return { name: this.projection.name, isActive: this.session !== null, failure: this.failure };
  }

  /**
   * Projects until `signal` ends it, and the batch under way with it. Two that run at once do each other no harm: the
   * checkpoint keeps one of them from writing.
   */
  async run(signal: AbortSignal): Promise<void> {
    const end = aborted(signal);
    while (!signal.aborted) {
      try {
        await this.follow(signal, end);
      } catch (error) {
        await pause(this.report(error), signal);
      }
    }
  }

  private async follow(signal: AbortSignal, end: Promise<void>): Promise<void> {
    const session = await this.openSession();
    this.session = session;
    this.ports.local.announce(this.projection.name, session);
    try {
      session.follow(this.ports.store);
      await Promise.race([session.failure, pause(this.settings.settledAfterMs, signal)]);
      this.failure = null;
      this.waiting.over();
      this.retryMs = this.settings.firstRetryMs;
      await Promise.race([session.failure, end]);
    } finally {
      this.session = null;
      this.ports.local.withdraw(this.projection.name);
      await session.close();
    }
  }

  private async openSession(): Promise<ProjectionSession> {
    const { store, database, bus, log } = this.ports;
    const { name, bell } = this.projection;
    const identity = identityOf(this.projection, await store.storeId());
    const { position, rebuildReason } = await database.resume(identity, () => store.head());
    // An empty database has no checkpoint: nothing to warn of, nor to say among the first words of a first start.
    if (rebuildReason === 'no_checkpoint') {
      log.debug('projection begins at the start of the log', { projection: name });
    } else if (rebuildReason !== null) {
      log.warn('projection is rebuilt from the start of the log', { projection: name, reason: rebuildReason });
    }
    const projection = aboveFloor(this.projection, await database.floorOf(identity));
    const onWritten = (): void => {
      if (bell !== undefined) bus.publish(bell, '');
    };
    return new ProjectionSession(projection, identity, { database, onWritten }, this.settings, position);
  }

  /** Says what happened, each time unless a store is away, and how long to wait. */
  private report(error: unknown): number {
    const { log } = this.ports;
    const { name } = this.projection;
    if (error instanceof CheckpointMoved) {
      log.warn('projection resumes from a moved checkpoint', { projection: name });
      return this.settings.firstRetryMs;
    }
    const waitMs = this.retryMs;
    this.retryMs = Math.min(2 * waitMs, this.settings.longestRetryMs);
    this.failure = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    if (error instanceof StoreUnavailable) {
      this.waiting.met(error);
      return waitMs;
    }
    log.error('projection stopped', {
      projection: name,
      failure: this.failure,
      retry_in_ms: waitMs,
      ...placeOf(error),
    });
    return waitMs;
  }
}

const pause = async (durationMs: number, signal: AbortSignal): Promise<void> => {
  if (signal.aborted) return;
  try {
    await delay(durationMs, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
};

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

const placeOf = (error: unknown): object => {
  if (!(error instanceof UnreadableEvent)) return {};
  const { stream, revision, type, id } = error.recorded;
  return { stream, revision, event_type: type, event_id: id };
};
