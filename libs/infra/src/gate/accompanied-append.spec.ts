import { PostgresEventStore } from '#libs/infra/event-store';
import { createRelaxedPool } from '#libs/infra/postgres';
import type { EventStoreHarness } from '../../../../test/contracts/event-store.contract.js';
import { accompaniedAppendContract } from '../../../../test/contracts/event-store/accompanied-append.contract.js';
import { createTestDatabase } from '../../../../test/support/database.js';
import { installGateSchema } from './gate-schema.js';

/** The function is installed with the gate's tables. */
const start = async (): Promise<EventStoreHarness> => {
  const { connectionString, drop } = await createTestDatabase();
  const common = { connectionString, applicationName: 'contract' };
  const pool = createRelaxedPool({ ...common, maxConnections: 1, onError: () => undefined });
  await installGateSchema(pool);
  await pool.end();
  const opened: PostgresEventStore[] = [];
  return {
    open: () => {
      const store = new PostgresEventStore({ ...common, onConnectionLost: () => undefined, storesPayloads: true });
      opened.push(store);
      return Promise.resolve(store);
    },
    close: async () => {
      await Promise.all(opened.map((store) => store.close()));
      await drop();
    },
  };
};

accompaniedAppendContract('postgres', start);
