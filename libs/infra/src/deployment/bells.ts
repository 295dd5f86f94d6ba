import type { Bus, EventStore, JobQueue, Logger } from '#libs/domain/kernel';
import type { RunningLog } from '../event-store/index.js';
import type { Config } from '../config/index.js';
import type { ServiceMetrics } from '../metrics/index.js';
import { InProcessBus, InProcessJobQueue } from '../runtime/index.js';

/** What tells processes that something is to be done. Neither holds anything that cannot be found again from the log. */
export interface Bells {
  readonly bus: Bus;
  readonly queue: JobQueue;
  /** What the workers of other processes take from: where it is in process they hear nothing, and nothing is kept. */
  readonly queueOfOthers: Pick<JobQueue, 'add'>;
  close(): Promise<void>;
}

/** In process, or on Redis where the settings name one. A Redis that is away keeps nothing from starting. */
export const bellsOf = async (
  { redisUrl: url }: Config,
  { store, tellOn }: { readonly store: Pick<EventStore, 'storeId'>; readonly tellOn: RunningLog['tellOn'] },
  log: Logger,
  meter: ServiceMetrics,
): Promise<Bells> => {
  if (url === null) {
    const inProcess = { bus: new InProcessBus(log), queue: new InProcessJobQueue(log, meter) };
    return { ...inProcess, queueOfOthers: { add: () => Promise.resolve() }, close: () => Promise.resolve() };
  }
  // Loaded where it is used: no other start needs it.
  const { BullJobQueue, RedisBus } = await import('../redis/index.js');
  // Deployments that share a server are told apart by what no two of them share.
  const options = { url, log, keyspace: `ags:${await store.storeId()}` };
  const [bus, queue] = [new RedisBus(options), new BullJobQueue({ ...options, meter })];
  tellOn(bus);
  return {
    bus,
    queue,
    queueOfOthers: queue,
    close: async () => {
      await Promise.all([bus.close(), queue.close()]);
    },
  };
};
