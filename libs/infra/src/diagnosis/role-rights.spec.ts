import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConfig } from '#libs/infra/config';
import { prepareDeployment } from '#libs/infra/deployment';
import { createReadOnlyPool } from '#libs/infra/postgres';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { giveToRole } from '../../../../test/support/role-of-its-own.js';
import { silentLogger } from '../../../../test/support/silent-logger.js';
import { DEPLOYMENT_TABLES } from './deployment-tables.js';
import { inspectRole, type RoleState } from './role-rights.js';

const role = `clerk_${randomBytes(6).toString('hex')}`;
let database: TestDatabase;
let superuser: pg.Client;
let pool: pg.Pool;
let stateDir: string;

beforeAll(async () => {
  database = await createTestDatabase();
  superuser = new pg.Client({ connectionString: database.connectionString });
  await superuser.connect();
  const connectionString = await giveToRole(superuser, database.connectionString, role);
  stateDir = await mkdtemp(join(tmpdir(), 'ags-role-'));
  const config = parseConfig({ SERVICE_STATE_DIR: stateDir, DATABASE_URL: connectionString });
  const { deployment } = await prepareDeployment(config, 'role rights spec', silentLogger, () => undefined);
  await deployment.close();
  pool = createReadOnlyPool({
    connectionString,
    applicationName: 'role rights spec',
    maxConnections: 1,
    onError: () => undefined,
  });
});
afterAll(async () => {
  await pool?.end();
  await superuser?.end();
  await database?.drop();
  await rm(stateDir, { recursive: true, force: true });
});

const inspect = (): Promise<RoleState> => inspectRole(pool, true);
/** While the role has not what `taken` takes away. */
const without = async (taken: string, givenBack: string): Promise<Partial<RoleState>> => {
  await superuser.query(taken);
  const { lacks, owners } = await inspect();
  await superuser.query(givenBack);
  return { lacks, owners };
};

describe('the role that everything was set up with', () => {
  it('lacks nothing', async () => {
    expect(await inspect()).toEqual({ role, isStandby: false, lacks: [], owners: [] });
  });

  it('may be a superuser', async () => {
    const all = createReadOnlyPool({
      connectionString: database.connectionString,
      applicationName: 'role rights spec',
      maxConnections: 1,
      onError: () => undefined,
    });
    expect(await inspectRole(all, true)).toMatchObject({ lacks: [], owners: [] });
    await all.end();
  });

  it.each(Object.entries(DEPLOYMENT_TABLES))('misses each right on %s that it has not', async (table, privileges) => {
    for (const privilege of privileges) {
      const found = await without(
        `revoke ${privilege} on ${table} from ${role}`,
        `grant ${privilege} on ${table} to ${role}`,
      );
      expect(found).toEqual({ lacks: [{ privileges: privilege, place: table }], owners: [] });
    }
  });

  it('misses several of them in as few words as GRANT takes', async () => {
    const all = 'gate.checkpoint, gate.liveness, ledger.parked';
    const found = await without(
      `revoke update, delete on ${all} from ${role}; revoke usage, create on schema gate, ledger from ${role}`,
      `grant update, delete on ${all} to ${role}; grant usage, create on schema gate, ledger to ${role}`,
    );
    expect(found.lacks).toEqual([
      { privileges: 'update, delete', place: all },
      { privileges: 'usage, create', place: 'schema gate, ledger' },
    ]);
  });

  it('needs none on the log but to read and to append', async () => {
    const { rows } = await superuser.query<{ privilege: string }>(
      `select privilege_type as privilege from information_schema.role_table_grants
        where grantee = $1 and table_schema = 'event_store'`,
      [role],
    );
    expect(rows.map(({ privilege }) => privilege)).toContain('UPDATE');
    const taken = `update, delete, truncate, references, trigger on all tables in schema event_store`;
    expect(await without(`revoke ${taken} from ${role}`, `grant ${taken} to ${role}`)).toEqual({
      lacks: [],
      owners: [],
    });
  });

  it('needs nothing of a log that lies elsewhere', async () => {
    await superuser.query(`revoke all on all tables in schema event_store from ${role}`);
    expect(await inspectRole(pool, false)).toMatchObject({ lacks: [], owners: [] });
    expect((await inspect()).lacks).toEqual([
      { privileges: 'select, insert', place: 'event_store.event_store_schema, event_store.events' },
    ]);
    await superuser.query(`grant all on all tables in schema event_store to ${role}`);
  });

  it.each([
    ['schema read_models', 'create'],
    ['schema public', 'usage'],
  ])('misses what it may not do in the %s', async (place, privilege) => {
    // What everybody may do there, this role may, too.
    const found = await without(
      `revoke ${privilege} on ${place} from ${role}, public, pg_database_owner`,
      `grant ${privilege} on ${place} to ${role}, pg_database_owner; grant usage on schema public to public`,
    );
    expect(found).toEqual({ lacks: [{ privileges: privilege, place }], owners: [] });
  });

  it('misses the right to make schemas', async () => {
    const name = new URL(database.connectionString).pathname.slice(1);
    const found = await without(
      `revoke create on database ${name} from ${role}`,
      `grant create on database ${name} to ${role}`,
    );
    expect(found.lacks).toEqual([{ privileges: 'create', place: `database ${name}` }]);
  });
});

describe('a role that something else belongs to', () => {
  it.each([
    ['a table', 'table gate.liveness'],
    ['a function', 'function gate.append_accompanied'],
  ])('may not act as its owner: %s', async (_title, thing) => {
    const { rows } = await superuser.query<{ name: string }>('select quote_ident(current_user) as name');
    const found = await without(
      `alter ${thing} owner to current_user; grant all on all tables in schema gate to ${role}`,
      `alter ${thing} owner to ${role}`,
    );
    expect(found).toEqual({ lacks: [], owners: [rows[0]?.name] });
  });

  it('may be a member of the one that it belongs to', async () => {
    const member = `${role}_too`;
    await superuser.query(`create role ${member} login password '${role}'; grant ${role} to ${member}`);
    const { href } = Object.assign(new URL(database.connectionString), { username: member, password: role });
    const members = createReadOnlyPool({
      connectionString: href,
      applicationName: 'role rights spec',
      maxConnections: 1,
      onError: () => undefined,
    });
    expect(await inspectRole(members, true)).toMatchObject({ role: member, lacks: [], owners: [] });
    await members.end();
  });
});
