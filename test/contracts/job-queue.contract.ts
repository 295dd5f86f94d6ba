import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type JobConsumer, type JobQueue, QUEUE_NAMES } from '#libs/domain/kernel';

export interface JobQueueHarness {
  readonly queue: JobQueue;
  /** Errors of handlers that were reported so far. */
  readonly reported: readonly unknown[];
  close(): Promise<void>;
}

/** The contract that every adapter of the port keeps (libs/domain/src/kernel/job-queue.port.ts). */
export const jobQueueContract = (adapter: string, start: () => Promise<JobQueueHarness>): void => {
  describe(`job queue contract: ${adapter}`, () => {
    let harness: JobQueueHarness;
    const consumers: JobConsumer[] = [];
    beforeEach(async () => {
      harness = await start();
    });
    afterEach(async () => {
      await Promise.all(consumers.splice(0).map((consumer) => consumer.close()));
      await harness.close();
    });

    const process = (concurrency: number, handler: (id: string) => Promise<void>): JobConsumer => {
      const consumer = harness.queue.process('execute', concurrency, handler);
      consumers.push(consumer);
      return consumer;
    };
    const add = async (...ids: readonly string[]): Promise<void> => {
      for (const id of ids) await harness.queue.add('execute', id);
    };
    /** A handler that waits until the test releases it, and the jobs that it was given so far. */
    const holding = () => {
      const given: string[] = [];
      const waiting = new Map<string, () => void>();
      const handler = (id: string): Promise<void> => {
        given.push(id);
        return new Promise((resolve) => waiting.set(id, resolve));
      };
      return { given, handler, finish: (id: string) => waiting.get(id)?.() };
    };

    it('hands each job to a handler, including jobs that were added before the handler', async () => {
      const given: string[] = [];
      await add('a', 'b');
      process(4, (id) => Promise.resolve(void given.push(id)));
      await add('c');
      await vi.waitFor(() => expect([...given].sort()).toEqual(['a', 'b', 'c']), { timeout: 20_000 });
    });

    it('keeps the jobs of each queue to its own handlers', async () => {
      const given: string[] = [];
      for (const name of QUEUE_NAMES) await harness.queue.add(name, `of ${name}`);
      for (const name of QUEUE_NAMES) {
        consumers.push(harness.queue.process(name, 2, (id) => Promise.resolve(void given.push(`${name}: ${id}`))));
      }
      const expected = QUEUE_NAMES.map((name) => `${name}: of ${name}`);
      await vi.waitFor(() => expect([...given].sort()).toEqual([...expected].sort()), { timeout: 20_000 });
    });

    it('counts the jobs that wait in all of its queues', async () => {
      for (const name of QUEUE_NAMES) await harness.queue.add(name, 'waiting');
      expect(await harness.queue.depth()).toBe(QUEUE_NAMES.length);
    });

    it('runs at most `concurrency` handlers at once', async () => {
      const { given, handler, finish } = holding();
      process(2, handler);
      await add('a', 'b', 'c', 'd');
      await vi.waitFor(() => expect(given).toEqual(['a', 'b']), { timeout: 20_000 });
      finish('a');
      await vi.waitFor(() => expect(given).toEqual(['a', 'b', 'c']), { timeout: 20_000 });
      finish('b');
      finish('c');
      await vi.waitFor(() => expect(given).toHaveLength(4), { timeout: 20_000 });
      finish('d');
    });

    it('gives a job to one of several consumers', async () => {
      const given: string[] = [];
      for (let count = 0; count < 3; count += 1) process(1, (id) => Promise.resolve(void given.push(id)));
      const ids = Array.from({ length: 30 }, (_, index) => `job${index}`);
      await add(...ids);
      await vi.waitFor(() => expect(given).toHaveLength(30), { timeout: 20_000 });
      expect(new Set(given)).toEqual(new Set(ids));
    });

    it('reports a handler that throws, does not repeat its job, and continues', async () => {
      const failure = new Error('cannot work');
      const given: string[] = [];
      process(1, (id) => {
        given.push(id);
        return id === 'bad' ? Promise.reject(failure) : Promise.resolve();
      });
      await add('bad', 'good');
      await vi.waitFor(() => expect(given).toEqual(['bad', 'good']), { timeout: 20_000 });
      expect(harness.reported).toEqual([failure]);
    });

    it('runs a job again that is added again after it was taken', async () => {
      const { given, handler, finish } = holding();
      process(2, handler);
      await add('a');
      await vi.waitFor(() => expect(given).toEqual(['a']), { timeout: 20_000 });
      finish('a');
      await add('a');
      await vi.waitFor(() => expect(given).toEqual(['a', 'a']), { timeout: 20_000 });
      finish('a');
    });

    it('takes no new job once it is closed, and waits for those under way', async () => {
      const { given, handler, finish } = holding();
      const consumer = process(1, handler);
      await add('a', 'b');
      await vi.waitFor(() => expect(given).toEqual(['a']), { timeout: 20_000 });
      let isClosed = false;
      const closing = consumer.close().then(() => (isClosed = true));
      await add('c');
      expect(isClosed).toBe(false);
      finish('a');
      await closing;
      expect(given).toEqual(['a']);
      const later: string[] = [];
      process(1, (id) => Promise.resolve(void later.push(id)));
      await vi.waitFor(() => expect(later).toEqual(['b', 'c']), { timeout: 20_000 });
    });
  });
};
