import type { EventStore } from '#libs/domain/kernel';
import type { ProjectionDatabase } from '#libs/infra/read-models';
import { identityOf, type Projection } from '../../apps/projector/src/projection.js';
import { PROJECTION_DEFAULTS } from '../../apps/projector/src/projection.settings.js';
import { ProjectionSession } from '../../apps/projector/src/projection-session.js';

/** Folds the log as it stands into the projection's rows, in batches of at most `batchSize`. */
export const followLog = async (
  projection: Projection,
  store: EventStore,
  database: ProjectionDatabase,
  batchSize = PROJECTION_DEFAULTS.batchSize,
): Promise<void> => {
  const identity = identityOf(projection, await store.storeId());
  const { position } = await database.resume(identity, () => store.head());
  const session = new ProjectionSession(
    projection,
    identity,
    { database },
    { ...PROJECTION_DEFAULTS, batchSize, lingerMs: 0 },
    position,
  );
  session.follow(store);
  const head = await store.head();
  await Promise.race([session.failure, session.waitFor(head, 60_000)]);
  await session.close();
};
