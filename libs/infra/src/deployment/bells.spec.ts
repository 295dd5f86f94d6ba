import { describe, expect, it } from 'vitest';
import { collectingLogger } from '../../../../test/support/collecting-logger.js';
import { parseConfig } from '../config/index.js';
import { MemoryEventStore } from '../event-store/index.js';
import { ServiceMetrics } from '../metrics/index.js';
import { readBuildFacts } from '../runtime/index.js';
import { bellsOf } from './bells.js';

describe('the bells of a process without Redis', () => {
  it('keep nothing for other processes, and count it as nothing that waits', async () => {
    const logger = collectingLogger();
    const metrics = new ServiceMetrics(readBuildFacts());
    const bells = await bellsOf(
      parseConfig({}),
      { store: new MemoryEventStore(), tellOn: () => undefined },
      logger,
      metrics,
    );
    await bells.queueOfOthers.add('execute', 'act_1');
    expect(await bells.queue.depth()).toBe(0);
    await bells.queue.add('execute', 'act_2');
    expect(await bells.queue.depth()).toBe(1);
    await bells.close();
  });
});
