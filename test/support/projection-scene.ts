import { MemoryEventStore } from '#libs/infra/event-store';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Projection } from '../../apps/projector/src/projection.js';
import { followLog } from './follow-log.js';
import { GivenLog } from './given-log.js';
import { createTestReadModels, type TestReadModels } from './read-models.js';

/** One projection's tables and a log for it to fold. */
export class ProjectionScene {
  private found: TestReadModels | null = null;
  private given: GivenLog | null = null;

  /** To be made in a `describe`: the tables are its own, the log is each test's own. */
  constructor(private readonly projection: Projection) {
    beforeAll(async () => {
      this.found = await createTestReadModels();
    });
    afterAll(() => this.found?.drop());
    beforeEach(() => {
      this.given = new GivenLog(new MemoryEventStore());
    });
  }

  get readModels(): TestReadModels {
    if (this.found === null) throw new Error('there are no tables before the first test');
    return this.found;
  }

  get log(): GivenLog {
    if (this.given === null) throw new Error('there is no log outside of a test');
    return this.given;
  }

  /** Folds the log as it stands. */
  async project(batchSize?: number): Promise<void> {
    await followLog(this.projection, this.log.store, this.readModels.projections, batchSize);
  }
}
