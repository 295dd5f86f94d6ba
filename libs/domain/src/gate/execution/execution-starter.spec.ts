import { expect, it } from 'vitest';
import { collectingLogger } from '../../../../../test/support/collecting-logger.js';
import { type ActionId, type JobConsumer, type QueueName, JobQueue } from '../../kernel/index.js';
import { QueuedExecutionStarter } from './execution-starter.js';

class FailingQueue extends JobQueue {
  isAway = true;
  override add(_queue: QueueName, _id: string): Promise<void> {
    return this.isAway ? Promise.reject(new Error('away')) : Promise.resolve();
  }
  override depth(): Promise<number> {
    return Promise.resolve(0);
  }
  override process(): JobConsumer {
    throw new Error('not used');
  }
}

it('a failing queue refuses no call, and is logged once for each outage', async () => {
  const [queue, log] = [new FailingQueue(), collectingLogger()];
  const starter = new QueuedExecutionStarter(queue, log);
  const start = (id: string): Promise<void> => starter.start({ id: id as ActionId });
  for (const id of ['act_1', 'act_2']) await start(id);
  expect(log.warnings).toMatchObject([{ action_id: 'act_1' }]);
  queue.isAway = false;
  await start('act_3');
  queue.isAway = true;
  await start('act_4');
  expect(log.warnings).toMatchObject([{ action_id: 'act_1' }, { action_id: 'act_4' }]);
});
