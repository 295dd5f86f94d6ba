import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestReadModels, type TestReadModels } from '../../../test/support/read-models.js';
import { silentLogger } from '../../../test/support/silent-logger.js';
import { BATCH_TIMEOUT_MS, NO_TIMEOUT, openProjectionSource } from './projection-source.js';

let readModels: TestReadModels;

beforeAll(async () => {
  readModels = await createTestReadModels();
});
afterAll(() => readModels.drop());

it.each([
  ['a projector gives up a statement that takes too long', BATCH_TIMEOUT_MS, '10s'],
  ['a rebuild has the time it takes', NO_TIMEOUT, '0'],
] as const)('%s', async (_, statementTimeoutMs, shown) => {
  const { connectionString } = readModels;
  const options = { connectionString, applicationName: 'source spec', maxConnections: 1, statementTimeoutMs };
  const source = await openProjectionSource(options, silentLogger);
  expect(await source.query<unknown[]>('SHOW statement_timeout')).toEqual([{ statement_timeout: shown }]);
  await source.destroy();
});
