import { describe, expect, it, vi } from 'vitest';
import type { RecordedEvent } from '#libs/domain/kernel';
import { newEvents, newStream } from '../../support/new-event.js';
import type { LogUnderTest } from './log-under-test.js';

export const restartContract = (log: LogUnderTest): void => {
  describe('a restart of the server', () => {
    it('loses no append that was answered, and recognises a repeated append', async (context) => {
      if (!log.harness.restart) return context.skip('no server');
      const append = { stream: newStream(), expectedRevision: 'no_stream', events: newEvents(2) } as const;
      const first = await log.store.append(append);
      const storeId = await log.store.storeId();
      await log.harness.restart();
      expect(await log.store.append(append)).toEqual(first);
      expect(await log.store.readStream(append.stream)).toHaveLength(2);
      expect(await (await log.harness.open()).storeId()).toBe(storeId);
    });

    it('lets appends and reads under way succeed, with each event recorded once', async (context) => {
      if (!log.harness.restart) return context.skip('no server');
      const streams = Array.from({ length: 8 }, newStream);
      let isRestarting = true;
      let answered = 0;
      const writers = streams.map(async (stream) => {
        let count = 0;
        for (; isRestarting || count < 10; count += 1) {
          await log.store.append({
            stream,
            expectedRevision: count === 0 ? 'no_stream' : count - 1,
            events: newEvents(1),
          });
          await log.store.heads([stream]);
          answered += 1;
        }
        return count;
      });
      const written = Promise.all(writers);
      // A rejection is handled where `written` is awaited, however early it comes.
      written.catch(() => undefined);
      await vi.waitFor(() => expect(answered).toBeGreaterThan(20), { timeout: 15_000 });
      await log.harness.restart();
      isRestarting = false;
      const counts = await written;
      const heads = await log.store.heads(streams);
      expect(streams.map((stream) => heads.get(stream))).toEqual(counts.map((count) => count - 1));
    });

    it('does not end a subscription', async (context) => {
      if (!log.harness.restart) return context.skip('no server');
      const after = await log.store.head();
      const seen: RecordedEvent[] = [];
      const subscription = log.store.subscribeToAll({
        after,
        onEvents: (batch) => Promise.resolve(void seen.push(...batch)),
        onError: () => undefined,
      });
      const stream = newStream();
      await log.store.append({ stream, expectedRevision: 'no_stream', events: newEvents(1) });
      await vi.waitFor(() => expect(seen).toHaveLength(1), { timeout: 15_000 });
      await log.harness.restart();
      await (await log.harness.open()).append({ stream, expectedRevision: 0, events: newEvents(1) });
      await vi.waitFor(() => expect(seen).toHaveLength(2), { timeout: 15_000 });
      expect(seen.map(({ revision }) => revision)).toEqual([0, 1]);
      await subscription.close();
    });
  });
};
