import type { Bus, CompoundAppends, EventStore, Logger, SeenHeads } from '#libs/domain/kernel';
import { parseKurrentUrl } from '../config/index.js';
import type { WriteDoubt } from '../postgres/index.js';
import { EventStoreWithFailpoints, TransactionalStoreWithFailpoints } from './event-store-with-failpoints.js';
import { KurrentEventStore } from './kurrent/kurrent-event-store.js';
import type { KurrentUnavailable } from './kurrent/kurrent-failures.js';
import type { AppendFunctions } from './postgres/append-functions.js';
import { PostgresEventStore } from './postgres/postgres-event-store.js';
import type { SeenLog } from './postgres/seen-log.js';
import { SequentialAppends } from './sequential-appends.js';
import { type PayloadsBesideLog, TransactionalAppends } from './transactional-appends.js';

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
  /** True for a process that keeps running. Default false. */
  readonly isLongLived?: boolean;
  /** How long one call is retried while the server does not answer. Default 5 s. */
  readonly deadlineMs?: number;
}

export type OpenedEventStore = EventStore & { close(): Promise<void> };

/** The deployment's log, in whichever store it is. Connects at the first request. */
export const openEventStore = (
  { eventStoreUrl, connectionString }: EventStorePlace,
  options: OpenEventStoreOptions,
): OpenedEventStore =>
  eventStoreUrl === null
    ? new PostgresEventStore({ connectionString, ...options })
    : kurrentStore(eventStoreUrl, options);

/** What a program that runs the service needs of the log, besides what every program needs of it. */
export interface RunningLogOptions extends OpenEventStoreOptions {
  /** The functions that write the rows of payloads in the commit of an append, if the log is in their database. */
  readonly functions: AppendFunctions;
  readonly payloads: PayloadsBesideLog;
  /** Whether failpoints may be armed. */
  readonly hasFailpoints: boolean;
}

/** The log as a program that runs the service uses it. */
export interface RunningLog {
  readonly store: EventStore;
  readonly seen: SeenHeads;
  readonly appends: CompoundAppends;
  /** Whether they are transactions, for whoever wires the rest: only then may a decision assume what it requires. */
  readonly isTransactional: boolean;
  /** Lets processes tell each other on the bus that they have appended, for a log whose server does not. */
  readonly tellOn: (bus: Bus) => void;
  readonly close: () => Promise<void>;
}

/**
 * {@link openEventStore}, for a program that runs the service. It is here that the way of an append and what belongs to
 * it is chosen: in one transaction where the log is in PostgreSQL beside the rows, one after the other where it is not.
 */
export const openRunningLog = (
  place: EventStorePlace,
  { functions, payloads, hasFailpoints, ...options }: RunningLogOptions,
): RunningLog => {
  if (place.eventStoreUrl === null) {
    const store = new PostgresEventStore({ connectionString: place.connectionString, functions, ...options });
    const met = hasFailpoints ? new TransactionalStoreWithFailpoints(store) : store;
    return {
      store: met,
      seen: store,
      appends: new TransactionalAppends(met, payloads),
      isTransactional: true,
      tellOn: (bus) => store.tellOn(bus),
      close: () => store.close(),
    };
  }
  const store = kurrentStore(place.eventStoreUrl, options);
  const met = hasFailpoints ? new EventStoreWithFailpoints(store) : store;
  return {
    store: met,
    seen: store,
    appends: new SequentialAppends(met, payloads),
    isTransactional: false,
    tellOn: () => undefined,
    close: () => store.close(),
  };
};

const kurrentStore = (
  url: string,
  { log, onWentBack = () => undefined, deadlineMs, isLongLived = false }: OpenEventStoreOptions,
): KurrentEventStore =>
  new KurrentEventStore({ url, onWentBack, onOutage: tellOutages(log, url), deadlineMs, isLongLived });

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
