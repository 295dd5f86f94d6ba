import type { EventStore, Logger } from '#libs/domain/kernel';
import { parseKurrentUrl } from '../config/index.js';
import type { WriteDoubt } from '../postgres/index.js';
import { KurrentEventStore } from './kurrent/kurrent-event-store.js';
import type { KurrentUnavailable } from './kurrent/kurrent-failures.js';
import { PostgresEventStore } from './postgres/postgres-event-store.js';
import type { SeenLog } from './postgres/seen-log.js';

export interface EventStorePlace {
  /** EVENT_STORE_URL; null where the log lies in PostgreSQL. */
  readonly eventStoreUrl: string | null;
  /** Of the deployment's PostgreSQL. */
  readonly connectionString: string;
}

export interface OpenEventStoreOptions {
  readonly applicationName: string;
  readonly log: Logger;
  /** Told of an idle connection to PostgreSQL that was lost. */
  readonly onConnectionLost: (error: Error) => void;
  /** Of the process, where it makes other connections to the same PostgreSQL. */
  readonly seenLog?: SeenLog;
  /** As above: whether it takes writes. */
  readonly doubt?: WriteDoubt;
  /** The log went back in time: the process must end. */
  readonly onWentBack?: (error: Error) => void;
  /** The gate's tables are there. Default false. */
  readonly storesPayloads?: boolean;
  /** For a process that stays. Default false. */
  readonly isLongLived?: boolean;
  /** How long one call keeps trying while the server does not answer. Default 5 s. */
  readonly deadlineMs?: number;
}

export type OpenedEventStore = EventStore & { close(): Promise<void> };

/** The deployment's log, wherever it lies. Connects with the first question. */
export const openEventStore = (
  { eventStoreUrl, connectionString }: EventStorePlace,
  { log, onWentBack = () => undefined, ...options }: OpenEventStoreOptions,
): OpenedEventStore =>
  eventStoreUrl === null
    ? new PostgresEventStore({ connectionString, ...options })
    : new KurrentEventStore({
        url: eventStoreUrl,
        onWentBack,
        onOutage: tellOutages(log, eventStoreUrl),
        deadlineMs: options.deadlineMs,
        isLongLived: options.isLongLived ?? false,
      });

const AWAY = 'is away; nothing is accepted until it answers';

/** One line when it is away and one when it is back. */
const tellOutages = (log: Logger, url: string): ((error: KurrentUnavailable | null) => void) => {
  const nodes = parseKurrentUrl(url).nodes.map(({ host, port }) => `${host}:${port}`);
  return (error) => {
    if (error === null) return log.info('the event store is back', { nodes });
    const { message: fault, next, isRefusal } = error;
    const outage = isRefusal ? 'refuses its user; nothing is accepted until it does not' : AWAY;
    log.warn(`the event store ${outage}`, { nodes, fault, next });
  };
};
