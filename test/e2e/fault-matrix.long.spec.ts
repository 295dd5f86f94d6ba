import { afterAll, beforeAll, describe } from 'vitest';
import { eventStoreFaults } from '../chaos/fault-matrix/event-store-faults.js';
import { DEADLINE_MS, EXTENT } from '../chaos/fault-matrix/expectations.js';
import { failoverFaults, postgresFaults } from '../chaos/fault-matrix/postgres-faults.js';
import { processFaults } from '../chaos/fault-matrix/process-faults.js';
import { redisFaults } from '../chaos/fault-matrix/redis-faults.js';
import { FaultStage } from '../chaos/fault-stage.js';
import { KURRENT_UNDER_TEST } from '../support/kurrent-under-test.js';

describe.skipIf(EXTENT === undefined)(`a fleet on what fails (KurrentDB: ${KURRENT_UNDER_TEST})`, () => {
  let running: FaultStage | undefined;
  const stage = (): FaultStage => {
    if (running === undefined) throw new Error('the fleet has not started');
    return running;
  };

  beforeAll(async () => {
    running = await FaultStage.set();
  }, DEADLINE_MS);
  afterAll(async () => {
    await running?.close();
  }, DEADLINE_MS);

  postgresFaults(stage);
  eventStoreFaults(stage);
  redisFaults(stage);
  failoverFaults(stage);
  processFaults(stage);
});
