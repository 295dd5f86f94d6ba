import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import pg from 'pg';
import { createEmptyDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { doBlock, quotedName, quotedTable, quotedText } from './quoted.js';
import { scramVerifier } from './scram-verifier.js';
import { setUpScript } from './set-up-script.js';

const HOSTILE = [
  'a"; drop table victim; --',
  `'; drop table victim; --`,
  '$ags$; drop table victim; --',
  "back\\slash\\'",
  '%s %I $1 :name',
  'line\nbreak',
  'UPPER lower',
  'select',
  'ünï–©öde ✓',
];

let database: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  database = await createEmptyDatabase();
  client = new pg.Client({ connectionString: database.connectionString });
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await database?.drop();
});

describe('a name in SQL', () => {
  it.each(HOSTILE)('is that name and nothing else: %j', async (name) => {
    await client.query(`create schema ${quotedName(name)}`);
    await client.query(`create table ${quotedTable({ schema: name, name })} (${quotedName(name)} int)`);
    const { rows } = await client.query('select tablename, schemaname from pg_tables where schemaname = $1', [name]);
    expect(rows).toEqual([{ schemaname: name, tablename: name }]);
  });

  it.each(HOSTILE)('is that text in a literal and in a block, with either reading of backslashes: %j', async (text) => {
    for (const reading of ['on', 'off']) {
      await client.query(`set standard_conforming_strings = ${reading}; set escape_string_warning = off`);
      const { rows } = await client.query(`select ${quotedText(text)} as said`);
      expect(rows).toEqual([{ said: text }]);
      await client.query(doBlock(`begin perform set_config('ags.said', ${quotedText(text)}, false); end`));
      expect((await client.query(`select current_setting('ags.said') as said`)).rows).toEqual([{ said: text }]);
    }
    await client.query('set standard_conforming_strings = on');
  });

  it('is refused where a database could not have it', () => {
    for (const name of ['', 'a\0b', 'x'.repeat(64), 'ü'.repeat(32)]) expect(() => quotedName(name)).toThrow(RangeError);
    expect(() => quotedText('a\0b')).toThrow(RangeError);
  });
});

describe('the script', () => {
  it.each(HOSTILE)('runs whole, and runs no part of a name: %j', async (name) => {
    await client.query('create table if not exists victim (id int)');
    await client.query(`create schema if not exists ${quotedName(name)}`);
    const { rows } = await client.query<{ name: string }>('select current_database()::text as name');
    const role = `${name} ${rows[0]?.name}`.slice(-40);
    const terms = { database: rows[0]?.name ?? '', schemas: [name], witness: null, tables: [], witnessRole: 'none' };
    await client.query(setUpScript({ ...terms, agentRole: role }, 'crm'));
    await client.query('select from victim');
    const held = await client.query(`select has_schema_privilege($1, $2, 'usage') as held`, [role, name]);
    expect(held.rows).toEqual([{ held: true }]);
    await client.query(`drop owned by ${quotedName(role)}; drop role ${quotedName(role)}`);
  });
});

describe('a verifier of a password', () => {
  it('is what PostgreSQL makes of it with the same salt', async () => {
    await client.query(`create role verified login password 'known-password'`);
    const { rows } = await client.query<{ rolpassword: string }>(
      `select rolpassword from pg_authid where rolname = 'verified'`,
    );
    await client.query('drop role verified');
    const theirs = rows[0]?.rolpassword ?? '';
    const salt = Buffer.from(/:([^$]+)\$/.exec(theirs)?.[1] ?? '', 'base64');
    expect(scramVerifier('known-password', salt)).toBe(theirs);
  });
});
