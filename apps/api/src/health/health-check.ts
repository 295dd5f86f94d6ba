import type { UnfinishedExecutions } from '#libs/domain/gate';
import {
  standsInLog,
  START,
  type Clock,
  type EventStore,
  type Position,
  type RecordedEvent,
} from '#libs/domain/kernel';
import type { BrokenLedgers, CheckpointSigningKeys, LookAtLog, UnsealedEvents } from '#libs/domain/ledger';
import type { CodeMisses } from '#libs/domain/people';
import { SCARCE_SPACE_BYTES, spaceText } from '#libs/infra/runtime';
import { TimeInLog } from './time-in-log.js';

/** One thing that the service needs. What is wrong goes to the log; the answer shows statuses only (rule API-16). */
export interface HealthCheck {
  /** As the answer names it. */
  readonly name: string;
  /** Without it no call is served: where it cannot be used, all is `down`. Others are `degraded` where they cannot be told. */
  readonly isVital?: true;
  /** Rejects when the thing cannot be used at all. */
  readonly check: () => Promise<'ok' | 'degraded'>;
}

/** Anything that answers a query, such as a pool of connections. */
interface Database {
  query(text: string): Promise<unknown>;
}

export const databaseCheck = (database: Database): HealthCheck => ({
  name: 'database',
  isVital: true,
  check: async () => {
    await database.query('SELECT 1');
    return 'ok';
  },
});

export const eventStoreCheck = (store: Pick<EventStore, 'requireUsable'>): HealthCheck => ({
  name: 'event_store',
  isVital: true,
  check: async () => {
    await store.requireUsable();
    return 'ok';
  },
});

/**
 * `degraded`, and an error in the log, where the disk of an embedded database has little room: what is recorded last is a
 * matter of time. Where nothing can be recorded any more, the event store's check says so.
 */
export const diskCheck = (stateDir: string, freeBytes: () => Promise<number>): HealthCheck => ({
  name: 'disk',
  check: async () => {
    const free = await freeBytes();
    if (free >= SCARCE_SPACE_BYTES) return 'ok';
    throw new Error(
      `only ${spaceText(free)} are free in the file system of ${stateDir}: free some, or calls are refused`,
    );
  },
});

export interface ProjectionSource {
  readonly store: Pick<EventStore, 'head' | 'readAll'>;
  /** The position up to which the slowest projection has come; it has so long to come to `position`, and is told to hurry. */
  readonly projected: (position: Position, timeoutMs: number) => Promise<Position>;
  /** As long as a list waits for its projections. */
  readonly patienceMs: number;
  readonly clock: Clock;
}

/** A projection that is well takes less for what it was just told of: its linger, and one transaction. */
const CATCH_UP_MS = 1_000;

/**
 * `degraded` when a projection has still not reached what the log held a while ago. A plain distance would call a busy
 * service sick: under load there is always something on the way. The log tells since when, so the first answer is as true
 * as every other. An event's own time is that of its command, which may have waited before it was recorded, say for the
 * address of a webhook: what is late by its own word alone has a moment to be reached. What was seen to be late has none, so
 * that a probe of a service whose projector is gone waits for nothing.
 */
export const projectionsCheck = ({ store, projected, patienceMs, clock }: ProjectionSource): HealthCheck => {
  const timeInLog = new TimeInLog(clock, patienceMs);
  /** The event after a position: where nobody projects, it is read once. */
  let next: { readonly after: Position; readonly recorded: RecordedEvent | null } | null = null;
  const nextAfter = async (after: Position): Promise<RecordedEvent | null> => {
    next = next?.after === after ? next : { after, recorded: (await store.readAll(after, 1))[0] ?? null };
    return next.recorded;
  };
  return {
    name: 'projections',
    check: async () => {
      const reached = await projected(START, 0);
      const head = await store.head();
      timeInLog.sawEnd(head);
      // Rows that tell of a log which was lost: the projector makes them anew.
      if (reached > head && !(await standsInLog(store, reached))) return 'degraded';
      const missing = reached < head ? await nextAfter(reached) : null;
      if (missing === null || !timeInLog.isOver(missing)) return 'ok';
      const { position } = missing;
      if (timeInLog.wasSeenOver(position)) return 'degraded';
      return (await projected(position, CATCH_UP_MS)) >= position ? 'ok' : 'degraded';
    },
  };
};

/** Of a check's own time, for what it may have to read. */
const LOOK_MS = 1_000;

interface WaitingSource {
  readonly head: () => Promise<Position>;
  /** Longer than it takes where somebody does the work. */
  readonly patienceMs: number;
  readonly clock: Clock;
}

export interface ExecutionsSource extends WaitingSource {
  /** Whether any process that executes has lately shown that it lives. */
  readonly isExecutorThere: () => Promise<boolean>;
  readonly unfinished: Pick<UnfinishedExecutions, 'inOrder'>;
}

/**
 * `degraded` when calls were allowed a while ago, have not ended, and nobody is there who executes. Where somebody is, calls
 * may rightly wait for long: for their turn, or for an upstream.
 */
export const executionsCheck = ({ isExecutorThere, unfinished, ...log }: ExecutionsSource): HealthCheck => {
  const isLate = latenessOf(unfinished, log);
  return {
    name: 'executions',
    check: async () => ((await isExecutorThere()) || !(await isLate()) ? 'ok' : 'degraded'),
  };
};

export interface SealingSource extends WaitingSource {
  /** Whether a seal key is valid now. */
  readonly hasActiveKey: () => Promise<boolean>;
  /** Organizations that the sealer could not go on with. */
  readonly parked: () => Promise<readonly unknown[]>;
  readonly unsealed: Pick<UnsealedEvents, 'inOrder'>;
}

/**
 * `degraded` when outcomes are recorded and cannot be sealed: no key is active, an organization's ledger cannot go on, or
 * nobody seals what the log held a while ago. Refusals then end with 503, and after a while everything.
 */
export const sealingCheck = ({ hasActiveKey, parked, unsealed, ...log }: SealingSource): HealthCheck => {
  const isLate = latenessOf(unsealed, log);
  return {
    name: 'sealing',
    check: async () => {
      // Asked each time: it looks back on what it saw before.
      const late = await isLate();
      return !late && (await hasActiveKey()) && (await parked()).length === 0 ? 'ok' : 'degraded';
    },
  };
};

/**
 * `degraded` while a ledger does not continue what was signed: nothing is signed for it until an operator has looked. Also
 * while a key that is to sign does not open.
 */
export const checkpointsCheck = (
  broken: Pick<BrokenLedgers, 'all'>,
  keys: Pick<CheckpointSigningKeys, 'closed'>,
): HealthCheck => ({
  name: 'checkpoints',
  check: async () => {
    const isWhole = (await broken.all()).length === 0 && (await keys.closed()).length === 0;
    return isWhole ? 'ok' : 'degraded';
  },
});

/**
 * `degraded`, and an error in the log, while so many codes were wrong all over the deployment that none is accepted
 * (docs/sign-in.md, Limits): somebody guesses. Links go on.
 */
export const signInCheck = (misses: Pick<CodeMisses, 'areTooMany'>, clock: Clock): HealthCheck => ({
  name: 'sign_in',
  check: async () => {
    if (await misses.areTooMany(clock.nowMs())) {
      throw new Error('too many sign-in codes were wrong lately: for 15 minutes none is accepted, and links go on');
    }
    return 'ok';
  },
});

/** What waits for something, in the order of the log. */
interface Waiting {
  inOrder(look: Pick<LookAtLog, 'upTo' | 'endsBefore'>): AsyncGenerator<unknown, void>;
}

/** Whether anything that the log held so long ago waits still. */
const latenessOf = (waiting: Waiting, { head, patienceMs, clock }: WaitingSource): (() => Promise<boolean>) => {
  const timeInLog = new TimeInLog(clock, patienceMs);
  return async () => {
    const upTo = await head();
    timeInLog.sawEnd(upTo);
    const endsAtMs = clock.monotonicMs() + LOOK_MS;
    let isUndecided = false;
    const endsBefore = (recorded: RecordedEvent): boolean => {
      if (!timeInLog.isOver(recorded)) return true;
      // So far behind is nobody who runs; the next look goes on where this one ended.
      isUndecided = clock.monotonicMs() >= endsAtMs;
      return isUndecided;
    };
    const first = await waiting.inOrder({ upTo, endsBefore }).next();
    return first.done !== true || isUndecided;
  };
};
