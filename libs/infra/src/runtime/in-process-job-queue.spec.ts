import { describe, expect, it, vi } from 'vitest';
import { NO_METER } from '#libs/domain/kernel';
import { jobQueueContract } from '../../../../test/contracts/job-queue.contract.js';
import { collectingLogger } from '../../../../test/support/collecting-logger.js';
import { InProcessJobQueue } from './in-process-job-queue.js';

jobQueueContract('in process', () => {
  const log = collectingLogger();
  return Promise.resolve({ queue: new InProcessJobQueue(log), reported: log.errors, close: () => Promise.resolve() });
});

describe('the in-process job queue', () => {
  it('does not add a job that is already waiting', async () => {
    const queue = new InProcessJobQueue(collectingLogger());
    for (const id of ['a', 'b', 'a']) await queue.add('execute', id);
    const given: string[] = [];
    const consumer = queue.process('execute', 1, (id) => Promise.resolve(void given.push(id)));
    await vi.waitFor(() => expect(given).toEqual(['a', 'b']), { timeout: 20_000 });
    await consumer.close();
  });

  it('drops the oldest job when it is full, and logs that', async () => {
    const log = collectingLogger();
    const queue = new InProcessJobQueue(log, NO_METER, 2);
    for (const id of ['a', 'b', 'c']) await queue.add('execute', id);
    const given: string[] = [];
    const consumer = queue.process('execute', 1, (id) => Promise.resolve(void given.push(id)));
    await vi.waitFor(() => expect(given).toEqual(['b', 'c']), { timeout: 20_000 });
    expect(log.warnings).toMatchObject([{ queue: 'execute', id: 'a' }]);
    await consumer.close();
  });
});
