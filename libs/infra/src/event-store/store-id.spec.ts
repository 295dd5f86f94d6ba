import { describe, expect, it } from 'vitest';
import { newEvent } from '../../../../test/support/new-event.js';
import { EVENT_SCHEMA_VERSION, UnknownEventType } from '#libs/domain/kernel';
import { MemoryEventStore } from './memory/memory-event-store.js';
import { ForeignStore, knownStoreIdOf } from './store-id.js';

describe('the id of a store', () => {
  it('does not exist in an empty store, and never changes once it was asked for', async () => {
    const store = new MemoryEventStore();
    expect(await knownStoreIdOf(store)).toBeNull();
    const id = await store.storeId();
    expect(await knownStoreIdOf(store)).toBe(id);
  });

  it.each([
    { type: 'ItemSold', data: '{}', metadata: '{"schema":1}' },
    { type: 'StoreCreated', data: '{"store_id":"north"}', metadata: '{}' },
    { type: 'StoreCreated', data: '{"store_id":"north"}', metadata: '' },
    { type: 'StoreCreated', data: '{"store_id":"north"}', metadata: 'null' },
  ])('is none that somebody else wrote there: $type with metadata $metadata', async (event) => {
    const store = new MemoryEventStore();
    await store.append({ stream: 'store', expectedRevision: 'no_stream', events: [newEvent(event)] });
    await expect(knownStoreIdOf(store)).rejects.toBeInstanceOf(ForeignStore);
    await expect(store.storeId()).rejects.toBeInstanceOf(ForeignStore);
  });

  it('is not read from an event that a newer version wrote', async () => {
    const store = new MemoryEventStore();
    const newer = newEvent({
      type: 'StoreCreated',
      data: '{"name":"north"}',
      metadata: `{"schema":${EVENT_SCHEMA_VERSION + 1}}`,
    });
    await store.append({ stream: 'store', expectedRevision: 'no_stream', events: [newer] });
    await expect(knownStoreIdOf(store)).rejects.toBeInstanceOf(UnknownEventType);
  });
});
