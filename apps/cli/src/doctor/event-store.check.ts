import { checkKnownStore, ForeignStore, KurrentUnavailable, WrongEventStore } from '#libs/infra/event-store';
import type { Examination } from './examination.js';
import { ok, problem, problemOf, type Finding } from './finding.js';

/** Whether it answers, as to one who may read all of it and append to it, and is the one whose rows the database holds. */
export const checkEventStore = async (examination: Examination): Promise<Finding> => {
  const { eventStoreUrl } = examination.config;
  const { store, pool } = await examination.database();
  try {
    await store.requireUsable();
    await checkKnownStore(pool, store, eventStoreUrl);
  } catch (error) {
    if (error instanceof WrongEventStore || error instanceof ForeignStore) return problemOf(error.message);
    if (!(error instanceof KurrentUnavailable)) throw error;
    return problem(`The event store cannot be used: ${error.message}.`, error.next);
  }
  return ok(eventStoreUrl === null ? 'The log is in PostgreSQL.' : 'The event store answers, and has this log.');
};
