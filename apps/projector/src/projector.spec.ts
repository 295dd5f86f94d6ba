import { MemoryEventStore } from '#libs/infra/event-store';
import { PostgresLeases } from '#libs/infra/leases';
import { ActionRow, LocalProjections, PROJECTION_NAMES } from '#libs/infra/read-models';
import { SystemClock } from '#libs/infra/runtime';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { finished, GivenLog, sealed, started, TEST_ORG, testId, witnessed } from '../../../test/support/given-log.js';
import { createTestReadModels, type TestReadModels } from '../../../test/support/read-models.js';
import { silentBus } from '../../../test/support/silent-bus.js';
import { silentLogger } from '../../../test/support/silent-logger.js';
import { Projector } from './projector.js';

/** How soon one takes over is measured by `npm run bench -- --only takeover`. */
const PATIENCE_MS = 30_000;

describe('projector', () => {
  let readModels: TestReadModels;
  let log: GivenLog;
  let projectors: Projector[];

  beforeAll(async () => {
    readModels = await createTestReadModels();
  });
  afterAll(() => readModels.drop());
  beforeEach(() => {
    log = new GivenLog(new MemoryEventStore());
    projectors = [];
  });
  afterEach(async () => {
    await Promise.all(projectors.map((projector) => projector.stop()));
  });

  const start = async (): Promise<Projector> => {
    const { connectionString } = readModels;
    const projector = new Projector({
      database: { connectionString, store: log.store },
      leases: new PostgresLeases(connectionString),
      localProjections: new LocalProjections(),
      bus: silentBus,
      clock: new SystemClock(),
      logger: silentLogger,
    });
    await projector.start();
    projectors.push(projector);
    return projector;
  };
  const isActive = (projector: Projector) => projector.status.every((projection) => projection.isActive);
  const isIdle = (projector: Projector) => !projector.status.some((projection) => projection.isActive);
  const givenLife = async (number: number) => {
    await log.append(`action-${testId('act', number)}`, ...started(number), finished(number), witnessed(number));
    await log.append(`ledger-${TEST_ORG}`, sealed(number));
  };
  const eventually = (assertion: () => Promise<void> | void) =>
    vi.waitFor(assertion, { timeout: PATIENCE_MS, interval: 10 });
  const sealedActions = () => readModels.source.manager.countBy(ActionRow, { state: 'sealed' });

  it('keeps every projection running', async () => {
    await givenLife(1);
    const projector = await start();
    await eventually(() => expect(isActive(projector)).toBe(true));
    await eventually(async () => expect(await sealedActions()).toBe(1));
    expect(projector.status.map(({ name }) => name)).toEqual(PROJECTION_NAMES);
  });

  it('waits while another projects, and takes over when it has ended', async () => {
    const first = await start();
    await eventually(() => expect(isActive(first)).toBe(true));
    const second = await start();
    await givenLife(1);
    await eventually(async () => expect(await sealedActions()).toBe(1));
    expect(isIdle(second)).toBe(true);
    await first.stop();
    await givenLife(2);
    await eventually(async () => expect(await sealedActions()).toBe(2));
    await eventually(() => expect(isActive(second)).toBe(true));
  });

  it('is taken over when the connection of its lease is lost', async () => {
    const first = await start();
    await eventually(() => expect(isActive(first)).toBe(true));
    await start();
    await readModels.source.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE 'lease %'`,
    );
    await givenLife(1);
    await eventually(async () => expect(await sealedActions()).toBe(1));
    await eventually(() => expect(projectors.filter(isActive)).toHaveLength(1));
    expect(projectors.filter(isIdle)).toHaveLength(1);
  });
});
