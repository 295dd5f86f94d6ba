import { expect, it } from 'vitest';
import { collectingLogger } from '../../../../test/support/collecting-logger.js';
import { KurrentServer } from '../../../../test/support/kurrent/kurrent-server.js';
import { openEventStore } from './open-event-store.js';

it('an outage is logged once, with the nodes, the fault and what to do', async () => {
  const server = await KurrentServer.start();
  await server.kill();
  const log = collectingLogger();
  const options = { applicationName: 'test', log, onConnectionLost: () => undefined, deadlineMs: 200 };
  const store = openEventStore({ eventStoreUrl: server.url, connectionString: 'postgres://127.0.0.1:1/none' }, options);
  for (const ask of [() => store.head(), () => store.readStream('store')])
    await expect(ask()).rejects.toThrow('no answer');
  await store.close();
  await server.close();
  expect(log.warnings).toEqual([
    {
      nodes: [`127.0.0.1:${server.port}`],
      fault: expect.stringContaining('no answer (') as string,
      next: expect.stringContaining('EVENT_STORE_URL') as string,
    },
  ]);
});
