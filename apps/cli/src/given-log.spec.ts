import { expect, it } from 'vitest';
import { newEvent } from '../../../test/support/new-event.js';
import { StoreUnavailable } from '#libs/domain/kernel';
import { KurrentUnavailable, MemoryEventStore, type OpenedEventStore } from '#libs/infra/event-store';
import { GivenLog } from './given-log.js';

const append = { stream: 'order-1', expectedRevision: 'no_stream', events: [newEvent()] } as const;

const CALLS: Readonly<Record<string, (log: GivenLog) => Promise<unknown>>> = {
  storeId: (log) => log.storeId(),
  append: (log) => log.append(append),
  readStream: (log) => log.readStream('order-1', { limit: 1 }),
  readAll: (log) => log.readAll(-1n, 10),
  head: (log) => log.head(),
};

/** A log of which every call fails. */
const failing = (error: Error): OpenedEventStore =>
  new Proxy(new MemoryEventStore(), { get: () => () => Promise.reject(error) }) as unknown as OpenedEventStore;

it.each(Object.keys(CALLS))('%s of a log that an option gave tells what fails of that option', async (name) => {
  const call = (error: Error) => CALLS[name]?.(new GivenLog(failing(error), '--to'));
  await expect(call(new KurrentUnavailable('silence'))).rejects.toMatchObject({
    code: 'event_store_unusable',
    message: 'The event store cannot be used: no answer (silence). Check --to and that it runs, then try again.',
  });
  await expect(call(new StoreUnavailable('no answer'))).rejects.toMatchObject({
    code: 'database_unavailable',
    message: 'The database cannot be used. Check --to and that it runs, then try again.',
  });
  const other = new TypeError('ours');
  await expect(call(other)).rejects.toBe(other);
});
