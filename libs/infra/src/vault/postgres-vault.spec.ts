import { createHmac, randomBytes } from 'node:crypto';

import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { idOf } from '#libs/domain/kernel';
import { SystemRandomness } from '#libs/infra/runtime';
import { installSchemas } from '#libs/infra/schemas';

import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { PostgresVault } from './postgres-vault.js';
import { SealedValueRefused, VaultCipher } from './vault-cipher.js';
import { requireVaultKey, VaultKeyMismatch } from './vault-key-check.js';

const org = idOf('org', randomBytes(16));
const otherOrg = idOf('org', randomBytes(16));
const key = randomBytes(32);
const cipherOf = (bytes: Uint8Array) => new VaultCipher(bytes, new SystemRandomness());
const stored = (object: string, version = 'v1', owner = org) => ({
  org: owner,
  object,
  version,
  stream: `connector-${owner}-crm`,
});
const fieldsOf = (members: Record<string, string>) =>
  new Map(Object.entries(members).map(([field, value]) => [field, Buffer.from(value)]));

let database: TestDatabase;
let pool: pg.Pool;
let vault: PostgresVault;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = new pg.Pool({ connectionString: database.connectionString, max: 2 });
  await Promise.all([installSchemas(pool, ['vault']), installSchemas(pool, ['vault'])]);
  vault = new PostgresVault(pool, cipherOf(key));
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

describe('vault: secrets as versioned rows', () => {
  it('gives back what was put, field by field', async () => {
    await vault.put(stored('con_a'), fieldsOf({ username: 'robot', password: 'pass wörd' }));
    const opened = await vault.open(stored('con_a'));
    expect([...(opened?.fields ?? [])].map(([field, bytes]) => [field, Buffer.from(bytes).toString()]).sort()).toEqual([
      ['password', 'pass wörd'],
      ['username', 'robot'],
    ]);
  });

  it('keeps versions apart and destroys one of them', async () => {
    await vault.put(stored('con_b', 'v1'), fieldsOf({ token: 'first' }));
    await vault.put(stored('con_b', 'v2'), fieldsOf({ token: 'second' }));
    await vault.destroy(stored('con_b', 'v1'));
    expect(await vault.open(stored('con_b', 'v1'))).toBeNull();
    const opened = await vault.open(stored('con_b', 'v2'));
    expect(Buffer.from(opened?.fields.get('token') ?? []).toString()).toBe('second');
  });

  it('zeroes an opened secret when it is destroyed (rule CON-10)', async () => {
    await vault.put(stored('con_c'), fieldsOf({ token: 'secret' }));
    const opened = await vault.open(stored('con_c'));
    opened?.destroy();
    expect(opened?.fields.get('token')).toEqual(Buffer.alloc(6));
  });

  it('never writes the secret in the clear', async () => {
    const secret = `canary-${randomBytes(8).toString('hex')}`;
    await vault.put(stored('con_d'), fieldsOf({ token: secret }));
    const { rows } = await pool.query<{ row: string }>(
      `select encode(sealed, 'escape') || org || object || version || field || stream as row from vault_secrets`,
    );
    expect(rows.filter(({ row }) => row.includes(secret))).toEqual([]);
  });

  it.each([
    ['another organization', `update vault_secrets set org = '${otherOrg}' where object = $1`, otherOrg, 'v1'],
    ['another version', `update vault_secrets set version = 'v9' where object = $1`, org, 'v9'],
    ['another field', `update vault_secrets set field = 'value' where object = $1`, org, 'v1'],
    [
      'changed bytes',
      `update vault_secrets set sealed = set_byte(sealed, 40, get_byte(sealed, 40) # 1) where object = $1`,
      org,
      'v1',
    ],
    ['bytes cut off', `update vault_secrets set sealed = substring(sealed for 10) where object = $1`, org, 'v1'],
  ])('a row with %s does not open (rule CON-10)', async (name, statement, owner, version) => {
    const object = `con_${name.replaceAll(' ', '_')}`;
    await vault.put(stored(object), fieldsOf({ token: 'a token that is long enough' }));
    await pool.query(statement, [object]);
    await expect(vault.open(stored(object, version, owner))).rejects.toMatchObject({ code: 'vault_unavailable' });
  });

  it('a row moved to another object does not open (rule CON-10)', async () => {
    await vault.put(stored('con_from'), fieldsOf({ token: 'a token that is long enough' }));
    await pool.query(`update vault_secrets set object = 'con_to' where object = 'con_from'`);
    await expect(vault.open(stored('con_to'))).rejects.toMatchObject({ code: 'vault_unavailable', status: 503 });
  });

  it('another key does not open it', async () => {
    await vault.put(stored('con_e'), fieldsOf({ token: 'secret' }));
    const other = new PostgresVault(pool, cipherOf(randomBytes(32)));
    await expect(other.open(stored('con_e'))).rejects.toMatchObject({ code: 'vault_unavailable' });
  });

  it('an unreachable database is vault_unavailable', async () => {
    const gone = new pg.Pool({ connectionString: 'postgres://nobody@127.0.0.1:1/none', connectionTimeoutMillis: 500 });
    await expect(new PostgresVault(gone, cipherOf(key)).open(stored('con_e'))).rejects.toMatchObject({
      code: 'vault_unavailable',
    });
    await gone.end();
  });

  it('lists only rows older than asked, each secret once', async () => {
    await vault.put(stored('con_old'), fieldsOf({ username: 'a', password: 'b' }));
    await vault.put(stored('con_new'), fieldsOf({ token: 'c' }));
    await pool.query(`update vault_secrets set created_at = now() - interval '2 hours' where object = 'con_old'`);
    const found: string[] = [];
    for await (const secret of vault.olderThan(3_600_000)) found.push(secret.object);
    expect(found).toEqual(['con_old']);
  });
});

describe('vault: the key of marks', () => {
  const markKey = async (bytes: Uint8Array, owner = org, object = 'con_a') =>
    Buffer.from(await new PostgresVault(pool, cipherOf(bytes)).markKeyOf({ org: owner, object })).toString('hex');

  it('is HKDF-SHA256 of the vault key, with purpose, organization and object as its info', async () => {
    const extracted = createHmac('sha256', Buffer.alloc(32)).update(key).digest();
    const info = `service/action-mark-key/v1\n${org}\ncon_a`;
    expect(await markKey(key)).toBe(createHmac('sha256', extracted).update(`${info}\u0001`).digest('hex'));
  });

  it('is the same each time, and another for each organization, object and vault', async () => {
    const keys = await Promise.all([
      markKey(key),
      markKey(key, otherOrg),
      markKey(key, org, 'con_b'),
      markKey(randomBytes(32)),
    ]);
    expect(new Set(keys).size).toBe(4);
    expect(await markKey(key)).toBe(keys[0]);
  });

  it('is not derived for a purpose that could be read as another', () => {
    expect(() => cipherOf(key).deriveKey(['a', 'b\nc'])).toThrow(RangeError);
  });
});

describe('vault key', () => {
  it('a database remembers its first key and refuses another one', async () => {
    await requireVaultKey(pool, cipherOf(key));
    await requireVaultKey(pool, cipherOf(key));
    await expect(requireVaultKey(pool, cipherOf(randomBytes(32)))).rejects.toThrow(VaultKeyMismatch);
  });

  it('the check value does not hold the key', () => {
    expect(cipherOf(key).checkValue()).not.toContain(key.toString('hex').slice(0, 16));
  });

  it('sealing twice gives different bytes that both open', () => {
    const cipher = cipherOf(key);
    const [first, second] = [cipher.seal(Buffer.from('x'), ['a']), cipher.seal(Buffer.from('x'), ['a'])];
    expect(first.equals(second)).toBe(false);
    expect([cipher.open(first, ['a']).toString(), cipher.open(second, ['a']).toString()]).toEqual(['x', 'x']);
  });

  it('parts of a place cannot be moved over their border', () => {
    const cipher = cipherOf(key);
    expect(() => cipher.open(cipher.seal(Buffer.from('x'), ['ab', 'c']), ['a', 'bc'])).toThrow(SealedValueRefused);
  });
});
