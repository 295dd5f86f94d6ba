import pg from 'pg';
import { expect, it } from 'vitest';
import { keyDirectoryContract } from '../../../../test/contracts/key-directory.contract.js';
import { TEST_ORG } from '../../../../test/support/given-log.js';
import { tableRows } from '../../../../test/support/table-rows.js';
import { PostgresKeyDirectory } from './postgres-key-directory.js';

const start = () => tableRows('agents.key_prefixes', (pool) => new PostgresKeyDirectory(pool));

keyDirectoryContract('postgres', start);

it('a use that cannot be written fails nobody, and the next one after a while is written', async () => {
  const { pool, open, close } = await start();
  const directory = open();
  await directory.claim('abcdefgh', { kind: 'org', org: TEST_ORG });
  const query = pool.query.bind(pool);
  Object.assign(pool, { query: () => Promise.reject(new pg.DatabaseError('no answer', 0, 'error')) });
  directory.noteUse('abcdefgh', 1_000);
  Object.assign(pool, { query });
  expect(await directory.lastUses(['abcdefgh'])).toEqual(new Map());
  directory.noteUse('abcdefgh', 1_000_000);
  expect(await directory.lastUses(['abcdefgh'])).toEqual(new Map([['abcdefgh', 1_000_000]]));
  await close();
});
