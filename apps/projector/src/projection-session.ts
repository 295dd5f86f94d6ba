import type { EventStore, Position, RecordedEvent, Subscription } from '#libs/domain/kernel';
import type { LocalProjection, ProjectionDatabase, ProjectionIdentity } from '#libs/infra/read-models';
import { readableEvents, type Projection } from './projection.js';
import type { ProjectionSettings } from './projection.settings.js';

interface Waiter {
  readonly position: Position;
  settle(isReached: boolean): void;
}

/** What a session writes to, and whom it tells. */
export interface SessionPorts {
  readonly database: ProjectionDatabase;
  /** Rows were committed. */
  onWritten?(): void;
}

/**
 * One projection following the log from one resume point, until it is closed or fails. After a failure nobody can say
 * where the checkpoint is (a commit's answer may be lost), so a session is never mended: the next resumes from the row.
 */
export class ProjectionSession implements LocalProjection {
  /** Rejects with what ended the session; never resolves. */
  readonly failure: Promise<never>;
  private fail: (error: unknown) => void = () => undefined;
  private isOver = false;
  /** Where the checkpoint row is. */
  private saved: Position;
  /** Where the rows are: events that change none move this alone, and the row follows a little later. */
  private projected: Position;
  private subscription: Subscription | null = null;
  private saving: NodeJS.Timeout | null = null;
  private lastWrite: Promise<void> = Promise.resolve();
  private readonly waiters = new Set<Waiter>();

  constructor(
    private readonly projection: Projection,
    private readonly identity: ProjectionIdentity,
    private readonly ports: SessionPorts,
    private readonly settings: ProjectionSettings,
    resumeAt: Position,
  ) {
    this.saved = resumeAt;
    this.projected = resumeAt;
    this.failure = new Promise((_resolve, reject) => {
      this.fail = reject;
    });
    // It may end before anybody looks.
    this.failure.catch(() => this.end());
  }

  follow(store: EventStore): void {
    this.subscription = store.subscribeToAll({
      after: this.saved,
      batchSize: this.settings.batchSize,
      lingerMs: this.settings.lingerMs,
      // A list shows the rows between two batches: what no caller can have been answered is not among them.
      inWholeAppends: true,
      onEvents: (events) => this.afterLastWrite(() => this.handle(events)),
      onError: (error) => this.fail(error),
    });
  }

  get position(): Position {
    return this.projected;
  }

  hurry(): void {
    this.subscription?.hurry();
  }

  waitFor(position: Position, timeoutMs: number): Promise<boolean> {
    if (this.projected >= position) return Promise.resolve(true);
    if (this.isOver) return Promise.resolve(false);
    return new Promise((resolve) => {
      const waiter: Waiter = {
        position,
        settle: (isReached) => {
          clearTimeout(timer);
          this.waiters.delete(waiter);
          resolve(isReached);
        },
      };
      const timer = setTimeout(() => waiter.settle(false), timeoutMs);
      this.waiters.add(waiter);
    });
  }

  /** Ends after the batch under way, with the checkpoint where the rows are unless the session has failed. */
  async close(): Promise<void> {
    await this.subscription?.close();
    if (!this.isOver) await this.afterLastWrite(() => this.save());
    this.end();
  }

  private async handle(recorded: readonly RecordedEvent[]): Promise<void> {
    // The subscription tries a failed batch again until it is closed.
    if (this.isOver) throw new Error('the session has ended');
    const { events, position, unreadable } = readableEvents(this.projection, recorded);
    if (position !== null) {
      if (events.length > 0) {
        await this.ports.database.advance(this.identity, this.saved, position, (rows) =>
          this.projection.project(events, rows),
        );
        this.saved = position;
        this.ports.onWritten?.();
      }
      this.moveTo(position);
    }
    if (unreadable) throw unreadable;
  }

  private moveTo(position: Position): void {
    this.projected = position;
    for (const waiter of [...this.waiters]) if (waiter.position <= position) waiter.settle(true);
    if (this.saved < position) this.saveSoon();
  }

  private saveSoon(): void {
    this.saving ??= setTimeout(() => {
      this.saving = null;
      this.afterLastWrite(() => this.save()).catch((error: unknown) => this.fail(error));
    }, this.settings.saveIntervalMs);
  }

  private async save(): Promise<void> {
    const position = this.projected;
    if (this.isOver || this.saved >= position) return;
    await this.ports.database.advance(this.identity, this.saved, position);
    this.saved = position;
  }

  /** Rows and late checkpoints take turns: both move the checkpoint on from where the other left it. */
  private async afterLastWrite(write: () => Promise<void>): Promise<void> {
    const written = this.lastWrite.then(write);
    this.lastWrite = written.catch(() => undefined);
    await written;
  }

  private end(): void {
    this.isOver = true;
    if (this.saving) clearTimeout(this.saving);
    for (const waiter of [...this.waiters]) waiter.settle(false);
  }
}
