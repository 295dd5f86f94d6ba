import type { EventStore, Logger } from '#libs/domain/kernel';
import { parseKurrentUrl } from '../config/index.js';
import type { WriteDoubt } from '../postgres/index.js';
import { KurrentEventStore } from './kurrent/kurrent-event-store.js';
import type { KurrentUnavailable } from './kurrent/kurrent-failures.js';
import { PostgresEventStore } from './postgres/postgres-event-store.js';
import type { SeenLog } from './postgres/seen-log.js';

export interface EventStorePlace {
  /** `EVENT_STORE_URL`; null if the log is in PostgreSQL. */
  readonly eventStoreUrl: string | null;
  /** The connection string of the deployment's PostgreSQL. */
  readonly connectionString: string;
}

export interface OpenEventStoreOptions {
  readonly applicationName: string;
  readonly log: Logger;
  /** Called when an idle connection to PostgreSQL was lost. */
  readonly onConnectionLost: (error: Error) => void;
  /** Shared with the other connections of this process to the same PostgreSQL, if there are any. */
  readonly seenLog?: SeenLog;
  /** Shared in the same way: whether that PostgreSQL may be refusing writes. */
  readonly doubt?: WriteDoubt;
  /** Called when the log went back in time: the process must end. */
  readonly onWentBack?: (error: Error) => void;
  /** Whether the gate's tables, which hold payloads, are in the same database. Default false. */
  readonly storesPayloads?: boolean;
  /** True for a process that keeps running. Default false. */
  readonly isLongLived?: boolean;
  /** How long one call is retried while the server does not answer. Default 5 s. */
  readonly deadlineMs?: number;
}

export type OpenedEventStore = EventStore & { close(): Promise<void> };

/** The deployment's log, in whichever store it is. Connects at the first request. */
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

/** Logs one line when the event store becomes unavailable and one when it is back. */
const tellOutages = (log: Logger, url: string): ((error: KurrentUnavailable | null) => void) => {
  const nodes = parseKurrentUrl(url).nodes.map(({ host, port }) => `${host}:${port}`);
  return (error) => {
    if (error === null) return log.info('the event store is back', { nodes });
    const { message: fault, next, isRefusal } = error;
    const outage = isRefusal ? 'refuses its user; nothing is accepted until it does not' : AWAY;
    log.warn(`the event store ${outage}`, { nodes, fault, next });
  };
};
