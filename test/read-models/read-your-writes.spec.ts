import {
  type ActionRow,
  LocalProjectionProgress,
  LocalProjections,
  PolledProjectionProgress,
  READ_YOUR_WRITES_TIMEOUT_MS,
} from '#libs/infra/read-models';
import { ProjectionWaiter, ReadModels } from '#libs/infra/read-models';
import { PostgresEventStore } from '#libs/infra/event-store';
import { PostgresLeases } from '#libs/infra/leases';
import { SystemClock } from '#libs/infra/runtime';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { filtersIn } from '../../apps/api/src/lists/filters.js';
import { ListActions, ListActionsHandler } from '../../apps/api/src/gate/list-actions.query-handler.js';
import { Projector } from '../../apps/projector/src/projector.js';
import { finished, GivenLog, sealed, started, TEST_ORG, testId, witnessed } from '../support/given-log.js';
import { noKeys } from '../support/no-keys.js';
import { createTestReadModels, type TestReadModels } from '../support/read-models.js';
import { silentBus } from '../support/silent-bus.js';
import { silentLogger } from '../support/silent-logger.js';

const ACTIONS = 30;

describe('a list after an answered write', () => {
  let readModels: TestReadModels;
  let store: PostgresEventStore;
  let local: LocalProjections;
  let projector: Projector;
  let log: GivenLog;

  beforeEach(async () => {
    readModels = await createTestReadModels();
    const { connectionString } = readModels;
    store = new PostgresEventStore({
      connectionString,
      applicationName: 'read your writes',
      onConnectionLost: () => undefined,
    });
    log = new GivenLog(store);
    local = new LocalProjections();
    projector = new Projector({
      database: { connectionString, store },
      leases: new PostgresLeases(connectionString),
      localProjections: local,
      bus: silentBus,
      clock: new SystemClock(),
      logger: silentLogger,
    });
  });
  afterEach(async () => {
    await projector.stop();
    await store.close();
    await readModels.drop();
  });

  /** `isSameProcess`: whether the api runs beside the projector, or has only the database in common with it. */
  const listWith = (isSameProcess: boolean) => {
    const clock = new SystemClock();
    const polled = new PolledProjectionProgress(readModels.source, store, clock);
    const progress = new LocalProjectionProgress(isSameProcess ? local : new LocalProjections(), polled, clock);
    const waiter = new ProjectionWaiter(store, progress);
    const handler = new ListActionsHandler(new ReadModels(readModels.source), waiter, noKeys());
    return () =>
      handler.execute(new ListActions(TEST_ORG, filtersIn('listActions', {}), { limit: 100, after: null }, null));
  };
  const states = (rows: readonly ActionRow[]) => rows.map(({ state }) => state).reverse();

  it.each([
    ['in one process', true],
    ['in processes of their own', false],
  ])('shows it, with api and projector %s', async (_, isSameProcess) => {
    await projector.start();
    const list = listWith(isSameProcess);
    for (let number = 1; number <= ACTIONS; number += 1) {
      const stream = `action-${testId('act', number)}`;
      await log.append(stream, ...started(number));
      expect(states((await list()).rows).at(-1)).toBe('executing');
      await log.append(stream, finished(number), witnessed(number));
      expect(states((await list()).rows).at(-1)).toBe('recorded');
      await log.append(`ledger-${TEST_ORG}`, sealed(number));
      const { rows, lagEvents } = await list();
      expect([states(rows).every((state) => state === 'sealed'), rows.length, lagEvents]).toEqual([true, number, 0]);
    }
  });

  it('answers what it has after its time, and says how many events it lacks', async () => {
    await log.append(`action-${testId('act', 1)}`, ...started(1));
    const askedAtMs = performance.now();
    const { rows, lagEvents } = await listWith(true)();
    const waitedMs = performance.now() - askedAtMs;
    expect([rows, lagEvents]).toEqual([[], started(1).length]);
    // docs/api-conventions.md: two seconds.
    expect(READ_YOUR_WRITES_TIMEOUT_MS).toBe(2_000);
    expect(waitedMs).toBeGreaterThan(1_800);
    expect(waitedMs).toBeLessThan(20_000);
  });
});
