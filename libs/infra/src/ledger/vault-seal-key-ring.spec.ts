import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SigningKey } from '#libs/crypto';
import { SystemRandomness } from '#libs/infra/runtime';
import { VaultCipher } from '#libs/infra/vault';
import { installSchemas } from '#libs/infra/schemas';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { VaultSealKeyRing } from './index.js';

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = new pg.Pool({ connectionString: database.connectionString, max: 1 });
  await installSchemas(pool, ['ledger']);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const ring = (): VaultSealKeyRing =>
  new VaultSealKeyRing(pool, new VaultCipher(randomBytes(32), new SystemRandomness()));

it.each([
  ['of which the database has no private half', false, 'is not in this PostgreSQL'],
  ['that another vault key has sealed', true, 'does not open here'],
])('a seal key %s is named, with what to do', async (_, isStored, why) => {
  const key = SigningKey.generate();
  if (isStored) await ring().store(key);
  const { kid } = key.publicKey;
  await expect(ring().open(kid)).rejects.toMatchObject({
    code: 'vault_unavailable',
    cause: {
      message: expect.stringMatching(new RegExp(`seal key ${kid} ${why}: put back .*seal-keys rotate`)) as string,
    },
  });
});
