import { randomBytes } from 'node:crypto';

import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { digestOfJson, type JsonObject } from '#libs/crypto';
import {
  ConnectorHealthSweeper,
  ConnectorSettings,
  ConnectorStreams,
  type ConnectorTest,
  CreateConnector,
  CreateConnectorHandler,
  CredentialSweeper,
  DeleteConnector,
  DeleteConnectorHandler,
  type LiveConnector,
  PutCredentials,
  PutCredentialsHandler,
  RemoveCredentials,
  RemoveCredentialsHandler,
  RunningExecutions,
  UpdateConnector,
  UpdateConnectorHandler,
  ToolDiscovery,
} from '#libs/domain/connectors';
import { type Clock, type CommandMetadata, CommandRunner, derivedId, FoldedStreams, idOf } from '#libs/domain/kernel';
import { organizationDecider } from '#libs/domain/people';
import { PostgresConnectorHealth } from '#libs/infra/connector-health';
import { EgressDoor } from '#libs/infra/egress';
import { MemoryEventStore } from '#libs/infra/event-store';
import { SystemClock, SystemRandomness } from '#libs/infra/runtime';
import { PostgresVault, VaultCipher } from '#libs/infra/vault';
import { installSchemas } from '#libs/infra/schemas';

import { silentLogger } from '../../../../test/support/silent-logger.js';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';

const org = idOf('org', randomBytes(16));
const CONFIG: JsonObject = {
  base_url: 'https://api.example.com',
  auth: { kind: 'bearer' },
  allowed_methods: ['GET'],
  allowed_path_prefixes: ['/v1'],
  tools: [{ name: 'get', method: 'GET', path: '/v1/x' }],
};

class CountedExecutions extends RunningExecutions {
  isRunning = false;

  override isAnyRunning(): Promise<boolean> {
    return Promise.resolve(this.isRunning);
  }
}

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = new pg.Pool({ connectionString: database.connectionString, max: 2 });
  await installSchemas(pool, ['vault', 'connector_health']);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const given = (isProduction = true) => {
  const store = new MemoryEventStore();
  const streams = new FoldedStreams(store);
  const connectors = new ConnectorStreams(new CommandRunner(store, streams), streams);
  const vault = new PostgresVault(pool, new VaultCipher(randomBytes(32), new SystemRandomness()));
  const egress = new EgressDoor({
    settings: { allowPrivate: !isProduction, allowPlainText: true, allow: [], ownEndpoints: () => [] },
    resolve: (host) => Promise.resolve([host === 'inner.example.com' ? '10.0.0.1' : '93.184.216.34']),
  });
  const executions = new CountedExecutions();
  const health = new PostgresConnectorHealth(pool);
  const settings = new ConnectorSettings(isProduction);
  const registry = { driverOf: () => null };
  const parts = { registry, clock: new SystemClock(), logger: silentLogger };
  const discovery = new ToolDiscovery(connectors, health, parts);
  // Ids derive from command ids, and all these connectors share one vault.
  const run = randomBytes(4).toString('hex');
  let commands = 0;
  const metadata = (commandId = `${run}-${(commands += 1)}`): CommandMetadata => ({
    org,
    actor: { type: 'system', id: null },
    requestId: null,
    commandId,
    now: '2026-10-01T12:00:00.000Z',
  });
  const address = (connector: LiveConnector | null = null, name = 'crm') => ({
    org,
    name,
    connector: connector?.id ?? null,
  });
  return {
    metadata,
    createOrganization: async () => {
      const [owner, membership] = [idOf('usr', randomBytes(16)), idOf('mem', randomBytes(16))];
      const meta = metadata();
      const data = { org, name: 'Acme', timezone: 'UTC', owner, membership };
      const runner = new CommandRunner(store, streams);
      await runner.run(organizationDecider, org, { type: 'CreateOrganization', data, metadata: meta }, meta);
    },
    streams,
    vault,
    executions,
    health,
    address,
    /** As a log that was begun elsewhere has it, whatever the type. */
    plant: async (type: LiveConnector['type']) => {
      const meta = metadata();
      const data = { org, connector: derivedId('con', meta.commandId), name: 'crm', type, description: null };
      const config = { config: {}, configHash: digestOfJson({}) };
      const create = { type: 'CreateConnector' as const, data: { ...data, ...config }, metadata: meta };
      return connectors.runOnLive(org, 'crm', create);
    },
    create: (changes: object = {}, meta = metadata()) =>
      new CreateConnectorHandler(connectors, egress, settings, discovery).execute(
        new CreateConnector(org, { type: 'rest', name: 'crm', description: null, config: CONFIG, ...changes }, meta),
      ),
    update: (changes: UpdateConnector['changes'], to = address()) =>
      new UpdateConnectorHandler(connectors, egress, settings, discovery).execute(
        new UpdateConnector(to, changes, metadata()),
      ),
    remove: (to = address(), meta = metadata()) =>
      new DeleteConnectorHandler(connectors, executions, vault, health).execute(new DeleteConnector(to, meta)),
    put: (secret: JsonObject, kind = 'bearer', meta = metadata()) =>
      new PutCredentialsHandler(connectors, vault, discovery).execute(
        new PutCredentials(address(), { kind, secret }, meta),
      ),
    removeCredentials: () =>
      new RemoveCredentialsHandler(connectors, vault).execute(new RemoveCredentials(address(), metadata())),
    rows: async (object: string) =>
      (await pool.query<{ version: string }>('select version from vault_secrets where object = $1', [object])).rows.map(
        ({ version }) => version,
      ),
    log: async () => (await store.readStream(`connector-${org}-crm`)).map(({ type, data }) => ({ type, data })),
  };
};
const refused = (code: string, param: string | null = null) => expect.objectContaining({ code, param }) as unknown;

describe('creating a connector', () => {
  it('stores the config with its defaults and derives the id from the command', async () => {
    const { create, metadata } = given();
    const meta = metadata();
    const created = await create({ description: 'Customers' }, meta);
    expect(created).toMatchObject({
      status: 'active',
      id: derivedId('con', meta.commandId),
      description: 'Customers',
      config: { timeout_ms: 10_000, tools: [{ idempotent: true }] },
      credential: null,
    });
  });

  it('a retried command answers with the same connector', async () => {
    const { create, log, metadata } = given();
    const meta = metadata();
    const first = await create({}, meta);
    expect(await create({}, { ...meta, now: '2026-10-01T13:00:00.000Z' })).toEqual(first);
    expect(await log()).toHaveLength(1);
  });

  it.each<[string, string | null, object]>([
    ['validation_failed', 'type', { type: 'mail' }],
    ['validation_failed', 'type', { type: 'toString' }],
    ['validation_failed', 'name', { name: 'service' }],
    ['validation_failed', 'name', { name: 'Сrm' }],
    ['validation_failed', 'description', { description: 'x'.repeat(1_025) }],
    ['validation_failed', 'config.base_url', { config: { ...CONFIG, base_url: 'http://api.example.com' } }],
    ['destination_blocked', 'config.base_url', { config: { ...CONFIG, base_url: 'https://127.0.0.1' } }],
    ['destination_blocked', 'config.base_url', { config: { ...CONFIG, base_url: 'https://0x7f.1' } }],
    ['destination_blocked', 'config.base_url', { config: { ...CONFIG, base_url: 'https://inner.example.com' } }],
    ['destination_blocked', 'config.base_url', { config: { ...CONFIG, base_url: 'https://localhost' } }],
  ])('%s, param %s', async (code, param, changes) => {
    const { create, log } = given();
    await expect(create(changes)).rejects.toEqual(refused(code, param));
    expect(await log()).toEqual([]);
  });

  it('of two racing creations of a name one wins', async () => {
    const { create } = given();
    const settled = await Promise.allSettled([create(), create()]);
    expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await expect(create()).rejects.toEqual(refused('conflict', 'name'));
  });
});

describe('changing a connector', () => {
  it('enables none in production whose type is for development alone; it can be disabled, described and deleted', async () => {
    const { plant, update, remove } = given();
    await plant('fake');
    await expect(update({ status: 'active' })).rejects.toEqual(refused('validation_failed', 'type'));
    expect(await update({ status: 'disabled', description: 'Old' })).toMatchObject({ status: 'disabled' });
    await expect(update({ status: 'active' })).rejects.toEqual(refused('validation_failed', 'type'));
    await expect(remove()).resolves.not.toThrow();
  });

  it('enables one in development whose type is for development alone', async () => {
    const { plant, update } = given(false);
    await plant('fake');
    await update({ status: 'disabled' });
    expect(await update({ status: 'active' })).toMatchObject({ status: 'active' });
  });

  it('replaces the config, judged anew', async () => {
    const { create, update, log } = given();
    const created = await create();
    const changed = await update({ config: { ...CONFIG, timeout_ms: 500 }, expectedConfigHash: created.configHash });
    expect(changed.config).toMatchObject({ timeout_ms: 500 });
    await expect(update({ config: CONFIG, expectedConfigHash: created.configHash })).rejects.toEqual(
      refused('conflict', 'expected_config_hash'),
    );
    await expect(update({ config: { ...CONFIG, base_url: 'https://10.0.0.1' } })).rejects.toEqual(
      refused('destination_blocked', 'config.base_url'),
    );
    await expect(update({ config: { ...CONFIG, tools: [] } })).rejects.toEqual(
      refused('validation_failed', 'config.tools'),
    );
    expect(await log()).toHaveLength(2);
  });

  it('the same config in another spelling is no change', async () => {
    const { create, update, log } = given();
    await create();
    await update({ config: { ...CONFIG, timeout_ms: 10_000, redirects: 'none' } });
    expect(await log()).toHaveLength(1);
  });

  it('an id of an earlier life is not found', async () => {
    const { create, update, remove, address } = given();
    const first = await create();
    await remove();
    await create();
    await expect(update({ status: 'disabled' }, address(first))).rejects.toEqual(refused('not_found'));
    await expect(remove(address(first))).rejects.toEqual(refused('not_found'));
  });
});

describe('credentials', () => {
  const TOKEN = 'canary-token-0123456789abcdef';

  it('lie in the vault under the version that the event names', async () => {
    const { create, put, vault, log } = given();
    const { id } = await create();
    const { credential } = await put({ token: TOKEN });
    expect(credential).toMatchObject({ kind: 'bearer', fields: ['token'], hint: 'cdef' });
    const opened = await vault.open({ org, object: id, version: credential?.version ?? '' });
    expect(Buffer.from(opened?.fields.get('token') ?? []).toString()).toBe(TOKEN);
    expect(JSON.stringify(await log())).not.toContain('canary');
  });

  it('of a wrong kind or form leave neither row nor event', async () => {
    const { create, put, rows, log } = given();
    const { id } = await create();
    await expect(put({ username: 'a', password: 'b' }, 'basic')).rejects.toEqual(refused('validation_failed', 'kind'));
    await expect(put({ token: 'two words' })).rejects.toEqual(refused('validation_failed', 'secret.token'));
    expect([await rows(id), (await log()).length]).toEqual([[], 1]);
  });

  it('are destroyed when they are removed', async () => {
    const { create, put, removeCredentials, rows } = given();
    const { id } = await create();
    await put({ token: TOKEN });
    expect((await removeCredentials()).credential).toBeNull();
    expect(await rows(id)).toEqual([]);
    expect((await removeCredentials()).credential).toBeNull();
  });

  it('are destroyed with their connector', async () => {
    const { create, put, remove, rows } = given();
    const { id } = await create();
    await put({ token: TOKEN });
    await remove();
    expect(await rows(id)).toEqual([]);
  });

  it('of kind none are stored as facts alone', async () => {
    const { create, put, rows } = given();
    const { id } = await create({ config: { ...CONFIG, auth: { kind: 'none' } } });
    expect((await put({}, 'none')).credential).toMatchObject({ kind: 'none', fields: [] });
    expect(await rows(id)).toEqual([]);
  });

  it('that no event names are swept after an hour, the named ones stay', async () => {
    const { createOrganization, create, put, streams, vault, rows } = given();
    await createOrganization();
    const { id } = await create();
    await put({ token: TOKEN });
    const { credential } = await put({ token: `${TOKEN}2` });
    await vault.put(
      { org, object: id, version: 'orphan', stream: `connector-${org}-crm` },
      new Map([['token', Buffer.from('x')]]),
    );
    await vault.put(
      { org, object: id, version: 'other', stream: 'webhooks-x' },
      new Map([['token', Buffer.from('x')]]),
    );
    const sweeper = new CredentialSweeper(streams, vault);
    expect(await sweeper.sweep()).toBe(0);
    await pool.query(`update vault_secrets set created_at = now() - interval '61 minutes' where object = $1`, [id]);
    const wrongStore = new CredentialSweeper(new FoldedStreams(new MemoryEventStore()), vault);
    expect(await wrongStore.sweep(), 'a store that knows nothing of the organization').toBe(0);
    expect(await sweeper.sweep()).toBe(2);
    expect(await sweeper.sweep()).toBe(0);
    expect((await rows(id)).sort()).toEqual(['other', credential?.version].sort());
  });
});

describe('deleting a connector', () => {
  it('is a conflict while an action on it executes (rule CON-5)', async () => {
    const { create, update, remove, executions, log } = given();
    await create();
    executions.isRunning = true;
    await expect(remove()).rejects.toEqual(refused('conflict'));
    await expect(remove()).rejects.toThrow('Disable the connector, so that no other begins');
    await update({ status: 'disabled' });
    await expect(remove()).rejects.toThrow('The connector is disabled, so no other will begin');
    executions.isRunning = false;
    await remove();
    expect((await log()).map(({ type }) => type)).toEqual(['ConnectorCreated', 'ConnectorUpdated', 'ConnectorDeleted']);
  });

  it('happens once: a retried command succeeds, another is not found', async () => {
    const { create, remove, address, metadata } = given();
    await create();
    const meta = metadata();
    await remove(address(), meta);
    await remove(address(), meta);
    await expect(remove()).rejects.toEqual(refused('not_found'));
  });

  it('takes the result of its test along, and a row that a crash left is swept', async () => {
    const { createOrganization, create, remove, address, streams, health } = given();
    await createOrganization();
    const tested = async (connector: LiveConnector) => {
      await health.begin({ org, name: 'crm', connector: connector.id }, 0);
      await health.record(testOf(connector));
    };
    const gone = await create();
    await tested(gone);
    await remove(address(gone));
    expect(await health.lastOf([gone.id])).toEqual(new Map());
    await tested(gone);
    const alive = await create();
    await tested(alive);
    const wrongStore = new ConnectorHealthSweeper(new FoldedStreams(new MemoryEventStore()), health, new SystemClock());
    expect(await wrongStore.sweep(), 'a store that knows nothing of the organization').toBe(0);
    expect(await new ConnectorHealthSweeper(streams, health, epoch).sweep(), 'young').toBe(0);
    expect(await new ConnectorHealthSweeper(streams, health, new SystemClock()).sweep()).toBe(1);
    expect([...(await health.lastOf([gone.id, alive.id])).keys()]).toEqual([alive.id]);
  });
});

/** At the beginning of time nothing is old. */
const epoch: Clock = { nowMs: () => 0, monotonicMs: () => 0 };

const testOf = ({ id, configHash }: LiveConnector): ConnectorTest => ({
  connector: id,
  status: 'passing',
  checks: [],
  testedAt: '2026-10-01T12:00:00.000Z',
  configHash,
  credentialVersion: null,
});
