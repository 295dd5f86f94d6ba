import { expect, it } from 'vitest';
import { NO_METER } from '#libs/domain/kernel';
import { collectingLogger } from '../../../../test/support/collecting-logger.js';
import { reportedJob } from './reported-job.js';

it('a job is tried once, and counted as done or error, never as retry', async () => {
  const counted: string[] = [];
  const tried: string[] = [];
  const log = collectingLogger();
  const job = reportedJob(
    'execute',
    (id) => {
      tried.push(id);
      return id === 'bad' ? Promise.reject(new Error('no')) : Promise.resolve();
    },
    log,
    { ...NO_METER, jobEnded: (kind, result) => void counted.push(`${kind} ${result}`) },
  );
  for (const id of ['good', 'bad']) await job(id);
  expect(tried).toEqual(['good', 'bad']);
  expect(counted).toEqual(['execute done', 'execute error']);
  expect(log.errors).toEqual([new Error('no')]);
});
