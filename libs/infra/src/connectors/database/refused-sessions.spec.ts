import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { JsonObject } from '#libs/crypto';

import { type GivenDatabase, givenDatabase } from './testing/given-database.js';

let shop: GivenDatabase;
beforeAll(async () => {
  shop = await givenDatabase({ max_rows_changed: 5, max_rows_returned: 10 });
});
afterAll(() => shop.close());

describe('database connector: who may not run a statement', () => {
  it.each([
    ['superuser', 'superuser'],
    ['bypassrls', 'BYPASSRLS'],
    ['replication', 'REPLICATION'],
    ['createrole', 'CREATEROLE'],
  ])('a role with %s', async (attribute, word) => {
    const given = await givenDatabase();
    try {
      await given.owner.query(`alter role ${given.role} ${attribute}`);
      const outcome = await given.send('query', { sql: 'select 1 as one' });
      expect(outcome).toMatchObject({ status: 'failed', errorCode: 'database_role_unsafe' });
      expect(outcome.errorMessage).toContain(word);
    } finally {
      await given.close();
    }
  });

  it('a member, also through another role, of what reads files of the server', async () => {
    const given = await givenDatabase();
    try {
      await given.owner.query(`create role ${given.role}_team; grant pg_read_server_files to ${given.role}_team`);
      await given.owner.query(`grant ${given.role}_team to ${given.role}`);
      const outcome = await given.send('query', { sql: 'select 1 as one' });
      expect(outcome).toMatchObject({ status: 'failed', errorCode: 'database_role_unsafe' });
      expect(outcome.errorMessage).toContain('pg_read_server_files');
      await given.owner.query(`drop role ${given.role}_team`);
    } finally {
      await given.close();
    }
  });
});

describe('database connector: a witness that is not set up', () => {
  it('a database without the slot that a witness needs takes no writes', async () => {
    const connector = shop.withConfig({ witness: { enabled: true } });
    const sql = 'update orders set cents = 1 where id = 52';
    const outcome = await shop.send('execute', { sql }, { connector });
    expect(outcome).toMatchObject({ status: 'failed', errorCode: 'database_not_ready', hasSent: false });
    expect(outcome.errorMessage).toContain('publication');
    expect(await shop.send('query', { sql: 'select 1 as one' }, { connector })).toMatchObject({ status: 'succeeded' });
  });
});

describe('database connector: what never comes up', () => {
  it('a wrong password', async () => {
    const given = await givenDatabase();
    try {
      await given.owner.query(`alter role ${given.role} password 'another'`);
      expect(await given.send('query', { sql: 'select 1 as one' })).toMatchObject({
        ...{ status: 'failed', errorCode: 'upstream_auth_failed', hasSent: false },
      });
    } finally {
      await given.close();
    }
  });

  it('no such database', async () => {
    const connector = shop.withConfig({ database: 'nowhere' });
    expect(await shop.send('query', { sql: 'select 1 as one' }, { connector })).toMatchObject({
      errorCode: 'upstream_not_found',
    });
  });

  it('a server without TLS where the config asks for it', async () => {
    const connector = shop.withConfig({ ssl: 'require' });
    const outcome = await shop.send('query', { sql: 'select 1 as one' }, { connector });
    expect(outcome).toMatchObject({ status: 'failed', errorCode: 'connector_unavailable' });
    expect(outcome.errorMessage).toContain('encrypted');
  });
});

describe('database connector: an answer that was lost', () => {
  it('a transaction that committed is found committed', async () => {
    await shop.owner.query('begin');
    const { rows } = await shop.owner.query<{ xid: string }>('select pg_current_xact_id()::text xid');
    await shop.owner.query('commit');
    const said = { xid: rows[0]?.xid ?? '', kind: 'update' as const, tables: [], side_effect_tables: [] };
    expect(await lost(said)).toMatchObject({ status: 'succeeded', transaction: { xid: said.xid, rows: null } });
  });

  it('a transaction that was rolled back has failed', async () => {
    await shop.owner.query('begin');
    const { rows } = await shop.owner.query<{ xid: string }>('select pg_current_xact_id()::text xid');
    await shop.owner.query('rollback');
    const said = { xid: rows[0]?.xid ?? '', kind: 'update' as const, tables: [], side_effect_tables: [] };
    expect(await lost(said)).toMatchObject({ status: 'failed' });
  });

  it('a transaction whose process stands still is ended, and has failed', async () => {
    const frozen = new pg.Client({
      ...shop.address,
      database: shop.owner.database ?? '',
      user: shop.role,
      password: 'canary-secret',
    });
    frozen.on('error', () => undefined);
    await frozen.connect();
    await frozen.query('begin');
    const { rows } = await frozen.query<{ xid: string }>('select pg_current_xact_id()::text xid');
    const said = { xid: rows[0]?.xid ?? '', kind: 'update' as const, tables: [], side_effect_tables: [] };
    expect(await lost(said)).toMatchObject({ status: 'failed' });
    await expect(frozen.query('commit')).rejects.toThrow();
  });

  it('a transaction that the server never had is unknown', async () => {
    const said = { xid: '99999999999', kind: 'update' as const, tables: [], side_effect_tables: [] };
    expect(await lost(said)).toMatchObject({ status: 'unknown', errorCode: 'timeout' });
  });

  const lost = (said: Parameters<GivenDatabase['driver']['outcomeOfLost']>[0]['said']) =>
    shop.driver.outcomeOfLost({
      ...{ org: shop.connector.org, action: 'act_00000000000000000000000001' as never, connector: shop.connector },
      ...{ toolName: 'execute', said, deadlineMonotonicMs: performance.now() + 5_000 },
    });
});

describe('database connector: a config with statements of its own', () => {
  const faultOf = (...tools: readonly JsonObject[]) =>
    shop.driver.configFault(shop.withConfig({ tools: tools.map((tool) => ({ description: 'x', ...tool })) }).config);
  const id = { name: 'id', type: 'integer' };

  it('takes those that could be sent', () => {
    expect(faultOf({ name: 'one', sql: 'select name from customers where id = $1', args: [id] })).toBeNull();
  });

  it('names the first that is refused, whatever calls it', () => {
    const fine = { name: 'one', sql: 'select 1 as one', args: [] };
    const fault = faultOf(fine, { name: 'two', sql: 'drop table customers', args: [] });
    expect(fault).toMatchObject({ param: 'config.tools[1].sql', message: expect.stringContaining('(drop)') as string });
  });

  it('wants an argument for each parameter, and a parameter for each argument', () => {
    const message = expect.stringContaining('1 parameter ($1 and so on), and the tool declares 0 arguments') as string;
    expect(faultOf({ name: 'one', sql: 'delete from orders where id = $1', args: [] })).toMatchObject({ message });
    expect(faultOf({ name: 'one', sql: 'select 1 as one', args: [id] })).toMatchObject({
      param: 'config.tools[0].sql',
    });
  });

  it('a named statement has the side effect that its text has', async () => {
    const connector = shop.withConfig({
      tools: [
        { name: 'look', description: 'x', sql: 'select name from customers where id = $1', args: [id] },
        {
          name: 'change',
          description: 'x',
          sql: 'update customers set name = $2 where id = $1',
          args: [id, { name: 'name', type: 'string' }],
        },
        { name: 'clear', description: 'x', sql: 'delete from customers', args: [] },
      ],
    });
    const effects = shop.driver.toolsOf(connector).map(({ name, sideEffect }) => [name, sideEffect]);
    expect(effects).toEqual([
      ['query', 'read'],
      ['execute', 'write'],
      ['look', 'read'],
      ['change', 'write'],
      ['clear', 'destructive'],
    ]);
    const { transaction } = await shop.send('change', { id: 4, name: 'by name' }, { connector });
    expect(transaction).toMatchObject({ rows: 1 });
  });
});
