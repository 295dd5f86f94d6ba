import type { EventStore } from '#libs/domain/kernel';
import { readModelSource } from '#libs/infra/read-models';
import { installSchemas, startedSchemas } from '#libs/infra/schemas';
import { PROJECTIONS } from '../../apps/projector/src/projections.js';
import { ProjectionRebuild } from '../../apps/projector/src/rebuild/projection-rebuild.js';
import { GivenLog, TEST_ORG, testId } from '../support/given-log.js';
import { openBenchLog, openBenchStores, type BenchStores } from './bench-stores.js';
import { absolute, print, say } from './figure.js';
import { actionEvents, deedEvent } from './given-actions.js';
import type { Profile } from './profile.js';

const EVENTS = 200_000;
const ACTIONS_AT_ONCE = 500;

/** Events of the log a second that a rebuild of the actions' rows reads, folds and swaps in. */
export const rebuildSpeed = async (profile: Profile): Promise<void> => {
  const stores = await openBenchStores(profile);
  try {
    const perSecond = await rebuiltPerSecond(stores);
    print(absolute('rebuild_events_per_second', perSecond, 'events/s'), profile);
  } finally {
    await stores.close();
  }
};

const rebuiltPerSecond = async ({ connectionString, eventStoreUrl }: BenchStores): Promise<number> => {
  await installSchemas(connectionString, startedSchemas(eventStoreUrl === null));
  const store = openBenchLog({ connectionString, eventStoreUrl });
  const source = readModelSource({
    connectionString,
    applicationName: 'ags bench',
    maxConnections: 4,
    statementTimeoutMs: 0,
    isDurable: false,
    onError: ({ message }) => say(`a connection was lost: ${message}`),
  });
  await source.initialize();
  try {
    say(`a log of ${EVENTS} events ...`);
    await fill(store);
    const actions = PROJECTIONS.find(({ name }) => name === 'actions');
    if (!actions) throw new Error('there is no projection of actions');
    const begun = performance.now();
    const { events } = await new ProjectionRebuild(actions, { store, source }, () => undefined).run();
    return (events * 1000) / (performance.now() - begun);
  } finally {
    await store.close();
    await source.destroy();
  }
};

const fill = async (store: EventStore): Promise<void> => {
  const log = new GivenLog(store);
  for (let [first, seq, count] = [1, 0, 0]; count < EVENTS; first += ACTIONS_AT_ONCE, seq += ACTIONS_AT_ONCE) {
    const numbers = Array.from({ length: ACTIONS_AT_ONCE }, (_, index) => first + index);
    const streams = numbers.map((number) => actionEvents(number, TEST_ORG));
    await Promise.all(streams.map((events, index) => log.append(`action-${testId('act', first + index)}`, ...events)));
    const deeds = numbers.flatMap((number, index) => deedEvent(number, TEST_ORG, seq + 1 + index) ?? []);
    await log.append(`ledger-${TEST_ORG}`, ...deeds);
    count += streams.flat().length + deeds.length;
  }
};
