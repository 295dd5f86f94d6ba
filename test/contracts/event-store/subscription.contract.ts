import { afterEach, describe, expect, it, vi } from 'vitest';
import { type RecordedEvent, START, type SubscribeOptions, type Subscription } from '#libs/domain/kernel';
import { newEvents, newStream } from '../../support/new-event.js';
import { EVENTS_OF_APPEND, WHOLE_APPENDS, writeWholeAppends } from '../../support/whole-appends.js';
import type { LogUnderTest } from './log-under-test.js';

export const subscriptionContract = (log: LogUnderTest): void => {
  describe('a subscription', () => {
    const subscriptions: Subscription[] = [];
    afterEach(async () => {
      await Promise.all(subscriptions.splice(0).map((subscription) => subscription.close()));
    });
    const subscribe = (options: Partial<SubscribeOptions> & Pick<SubscribeOptions, 'after' | 'onEvents'>) => {
      const subscription = log.store.subscribeToAll({ onError: () => undefined, ...options });
      subscriptions.push(subscription);
      return subscription;
    };

    const collecting = () => {
      const events: RecordedEvent[] = [];
      const onEvents = (batch: readonly RecordedEvent[]): Promise<void> => {
        events.push(...batch);
        return Promise.resolve();
      };
      return { events, onEvents };
    };

    const appendOne = () =>
      log.store.append({ stream: newStream(), expectedRevision: 'no_stream', events: newEvents(1) });

    /**
     * Resolves when a subscription that does not linger has seen the whole log, which gives any other one the time to
     * go wrong.
     */
    const everybodyWasTold = async (): Promise<void> => {
      const after = await log.store.head();
      const { position } = await appendOne();
      const witness = subscribe({ after, onEvents: () => Promise.resolve() });
      await vi.waitFor(() => expect(witness.position).toBe(position), { timeout: 5_000 });
    };

    it('catches up, then follows this and other clients, in order and without repeats', async () => {
      const after = await log.store.head();
      const other = await log.harness.open();
      const streams = [newStream(), newStream(), newStream()] as const;
      await log.store.append({ stream: streams[0], expectedRevision: 'no_stream', events: newEvents(3) });
      const { events, onEvents } = collecting();
      subscribe({ after, onEvents, batchSize: 2 });
      await vi.waitFor(() => expect(events).toHaveLength(3), { timeout: 20_000 });
      await log.store.append({ stream: streams[1], expectedRevision: 'no_stream', events: newEvents(1) });
      await other.append({ stream: streams[2], expectedRevision: 'no_stream', events: newEvents(1) });
      await vi.waitFor(() => expect(events).toHaveLength(5), { timeout: 5_000 });
      expect(events).toEqual(await log.store.readAll(after, 10));
    });

    it('begins with the first event of the log', async () => {
      const { events, onEvents } = collecting();
      subscribe({ after: START, onEvents, batchSize: 5 });
      await vi.waitFor(() => expect(events.length).toBeGreaterThanOrEqual(5), { timeout: 20_000 });
      expect(events.slice(0, 5)).toEqual(await log.store.readAll(START, 5));
    });

    it('has the position up to which the handler has succeeded', async () => {
      const after = await log.store.head();
      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      const onEvents = vi.fn(() => held);
      const subscription = subscribe({ after, onEvents });
      const { position } = await log.store.append({
        stream: newStream(),
        expectedRevision: 'no_stream',
        events: newEvents(1),
      });
      await vi.waitFor(() => expect(onEvents).toHaveBeenCalled(), { timeout: 20_000 });
      expect(subscription.position).toBe(after);
      release();
      await vi.waitFor(() => expect(subscription.position).toBe(position), { timeout: 20_000 });
    });

    it('calls a handler that threw again with the same batch, after reporting the error', async () => {
      const after = await log.store.head();
      const attempts: (readonly RecordedEvent[])[] = [];
      const failure = new Error('not this time');
      const onError = vi.fn();
      const onEvents = (batch: readonly RecordedEvent[]): Promise<void> => {
        attempts.push(batch);
        return attempts.length < 3 ? Promise.reject(failure) : Promise.resolve();
      };
      await log.store.append({ stream: newStream(), expectedRevision: 'no_stream', events: newEvents(4) });
      subscribe({ after, onEvents, onError, batchSize: 4 });
      // The first batch may hold fewer events than its size; the others come after it.
      await vi.waitFor(() => expect(attempts.length).toBeGreaterThanOrEqual(3), { timeout: 5_000 });
      expect(attempts[1]).toEqual(attempts[0]);
      expect(attempts[2]).toEqual(attempts[0]);
      expect(onError.mock.calls).toEqual([[failure], [failure]]);
    });

    it('gathers events while it lingers, until hurry is called', async () => {
      const after = await log.store.head();
      await appendOne();
      const batches: number[] = [];
      const onEvents = (batch: readonly RecordedEvent[]): Promise<void> => {
        batches.push(batch.length);
        return Promise.resolve();
      };
      const subscription = subscribe({ after, onEvents, lingerMs: 60_000 });
      // Events that are already there are delivered without waiting.
      await vi.waitFor(() => expect(batches).toEqual([1]), { timeout: 20_000 });
      for (let count = 0; count < 4; count += 1) await appendOne();
      await everybodyWasTold();
      expect(batches).toEqual([1]);
      subscription.hurry();
      await vi.waitFor(() => expect(batches).toEqual([1, 5]), { timeout: 20_000 });
    });

    it('ends after the batch under way', async () => {
      const after = await log.store.head();
      await log.store.append({ stream: newStream(), expectedRevision: 'no_stream', events: newEvents(2) });
      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      const onEvents = vi.fn(() => held);
      const subscription = subscribe({ after, onEvents, batchSize: 1 });
      await vi.waitFor(() => expect(onEvents).toHaveBeenCalledTimes(1), { timeout: 20_000 });
      let isClosed = false;
      const closing = subscription.close().then(() => (isClosed = true));
      await everybodyWasTold();
      expect(isClosed).toBe(false);
      release();
      await closing;
      await everybodyWasTold();
      expect(onEvents).toHaveBeenCalledTimes(1);
    });

    it('closes at once while a failed handler waits for its next try', async () => {
      const after = await log.store.head();
      await appendOne();
      const onEvents = vi.fn(() => Promise.reject(new Error('never')));
      const subscription = subscribe({ after, onEvents });
      await vi.waitFor(() => expect(onEvents.mock.calls.length).toBeGreaterThan(2), { timeout: 20_000 });
      const calls = onEvents.mock.calls.length;
      await subscription.close();
      await everybodyWasTold();
      expect(onEvents).toHaveBeenCalledTimes(calls);
    });

    it.each([1, 10, 1_000])(
      'delivers whole appends if inWholeAppends is set, with %d events a batch',
      async (batchSize) => {
        const after = await log.store.head();
        const other = await log.harness.open();
        const batches: (readonly RecordedEvent[])[] = [];
        const onEvents = (batch: readonly RecordedEvent[]): Promise<void> => Promise.resolve(void batches.push(batch));
        const subscription = subscribe({ after, onEvents, batchSize, inWholeAppends: true });
        await writeWholeAppends(other);
        const end = await log.store.head();
        await vi.waitFor(() => expect(subscription.position).toBe(end), { timeout: 10_000 });
        const revisions = batches.map((batch) => batch.map(({ revision }) => revision));
        expect(revisions.flat()).toEqual(
          Array.from({ length: WHOLE_APPENDS * EVENTS_OF_APPEND }, (_, revision) => revision),
        );
        expect(batches.map(({ length }) => length % EVENTS_OF_APPEND)).toEqual(batches.map(() => 0));
        expect(Math.max(...batches.map(({ length }) => length))).toBeLessThanOrEqual(
          Math.max(batchSize, EVENTS_OF_APPEND),
        );
      },
    );

    it('keeps up with 10,000 events', async () => {
      const after = await log.store.head();
      const { events, onEvents } = collecting();
      subscribe({ after, onEvents });
      const stream = newStream();
      for (let written = 0; written < 10_000; written += 500) {
        const expectedRevision = written === 0 ? 'no_stream' : written - 1;
        await log.store.append({ stream, expectedRevision, events: newEvents(500) });
      }
      await vi.waitFor(() => expect(events).toHaveLength(10_000), { timeout: 10_000 });
      expect(events.every(({ revision }, index) => revision === index)).toBe(true);
    });
  });
};
