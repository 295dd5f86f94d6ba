import { START } from '#libs/domain/kernel';
import { installEventStoreSchema, PostgresEventStore } from '#libs/infra/event-store';
import { ensureDatabase, startEmbeddedPostgres } from '#libs/infra/postgres';
import { installReadModels, readModelSource } from '#libs/infra/read-models';
import { PROJECTIONS } from '../../apps/projector/src/projections.js';
import { ProjectionRebuild } from '../../apps/projector/src/rebuild/projection-rebuild.js';
import { GivenLog, TEST_ORG, testId } from '../support/given-log.js';
import { silentLogger } from '../support/silent-logger.js';
import { actionEvents, deedEvent } from './given-actions.js';
import { absolute, print, say } from './figure.js';

const EVENTS = 200_000;
const ACTIONS_AT_ONCE = 500;
const GOAL_PER_SECOND = 40_000;

/** Events of the log a second that a rebuild of the actions' rows reads, folds and swaps in. @param stateDir of a server that runs */
export const rebuildSpeed = async (stateDir: string): Promise<void> => {
  const server = await startEmbeddedPostgres({ stateDir, log: silentLogger });
  const connectionString = server.connectionString('bench_rebuild');
  await ensureDatabase(connectionString, silentLogger);
  await installEventStoreSchema(connectionString);
  await installReadModels(connectionString);
  const common = { connectionString, applicationName: 'ags bench', maxConnections: 4 };
  const failed = (error: Error): void => say(`a connection was lost: ${error.message}`);
  const store = new PostgresEventStore({ ...common, onConnectionLost: failed });
  const source = readModelSource({ ...common, statementTimeoutMs: 0, isDurable: false, onError: failed });
  await source.initialize();
  try {
    say(`a log of ${EVENTS} events ...`);
    await fill(store);
    const actions = PROJECTIONS.find(({ name }) => name === 'actions');
    if (!actions) throw new Error('there is no projection of actions');
    const begun = performance.now();
    const { events } = await new ProjectionRebuild(actions, { store, source }, () => undefined).run();
    const perSecond = (events * 1000) / (performance.now() - begun);
    print(absolute('rebuild_events_per_second', perSecond, 'events/s', 'at least', GOAL_PER_SECOND));
  } finally {
    await store.close();
    await source.destroy();
    await server.release();
  }
};

const fill = async (store: PostgresEventStore): Promise<void> => {
  const log = new GivenLog(store);
  let seq = 0;
  for (let first = 1; (await store.head()) - START < EVENTS; first += ACTIONS_AT_ONCE) {
    const numbers = Array.from({ length: ACTIONS_AT_ONCE }, (_, index) => first + index);
    await Promise.all(
      numbers.map((number) => log.append(`action-${testId('act', number)}`, ...actionEvents(number, TEST_ORG))),
    );
    const deeds = numbers.flatMap((number) => deedEvent(number, TEST_ORG, seq + 1 + (number - first)) ?? []);
    seq += ACTIONS_AT_ONCE;
    await log.append(`ledger-${TEST_ORG}`, ...deeds);
  }
};
