import { randomBytes } from 'node:crypto';
import pg from 'pg';

import { digestOfJson, type JsonObject, type JsonValue } from '#libs/crypto';
import {
  type ConnectorCall,
  connectorDecider,
  type ConnectorState,
  type LiveConnector,
  type StatementSaid,
} from '#libs/domain/connectors';
import { readDatabaseConfig, storedDatabaseConfigOf } from '#libs/domain/connectors/database';
import type { ActionId, AgentId, ConnectorId, ErrorCode, OrgId } from '#libs/domain/kernel';
import { EgressDoor } from '#libs/infra/egress';
import { SystemClock, SystemRandomness } from '#libs/infra/runtime';

import { createEmptyDatabase, type TestDatabase } from '../../../../../../test/support/database.js';
import { silentLogger } from '../../../../../../test/support/silent-logger.js';
import { OpenVault } from '../../testing/open-vault.js';
import { DatabaseDriver } from '../database-driver.js';
import { loadSqlParser } from '../sql/index.js';

const ORG = 'org_00000000000000000000000001' as OrgId;
const AGENT = 'agt_00000000000000000000000001' as AgentId;
const CONNECTOR = 'con_00000000000000000000000001' as ConnectorId;
const ACTION = 'act_00000000000000000000000001' as ActionId;

/** A customer's database, on the run's server. */
export interface GivenDatabase {
  readonly driver: DatabaseDriver;
  readonly connector: LiveConnector;
  /** As the owner. */
  readonly owner: pg.Client;
  /** The plain role of the connector. */
  readonly role: string;
  readonly address: { readonly host: string; readonly port: number };
  /** What `recordProgress` was told. */
  readonly said: StatementSaid[];
  /** A connector of another config on the same database. */
  withConfig(changes: JsonObject): LiveConnector;
  send(toolName: string, args: JsonObject, changes?: Partial<ConnectorCall>): ReturnType<DatabaseDriver['send']>;
  /** Its result as a value. */
  result(toolName: string, args: JsonObject, changes?: Partial<ConnectorCall>): Promise<JsonValue>;
  close(): Promise<void>;
}

const TABLES = `
create table customers (id int primary key, name text not null, email text, balance numeric(12,2) not null default 0);
create table orders (id int primary key, customer int references customers on delete cascade, cents bigint not null);
insert into customers select n, 'person ' || n, 'p' || n || '@example.org', n from generate_series(1, 20) n;
insert into orders select n, 1 + n % 20, n * 100 from generate_series(1, 60) n`;

/** @param on an empty database; by itself one on the run's server */
export const givenDatabase = async (config: JsonObject = {}, on?: TestDatabase): Promise<GivenDatabase> => {
  const database = on ?? (await createEmptyDatabase());
  const owner = new pg.Client({ connectionString: database.connectionString });
  owner.on('error', () => undefined);
  await owner.connect();
  const role = `agent_${randomBytes(6).toString('hex')}`;
  await owner.query(TABLES);
  await owner.query(`create role ${role} login password 'canary-secret'`);
  await owner.query(`grant select, insert, update, delete, truncate on all tables in schema public to ${role}`);
  const address = { host: owner.host, port: owner.port };
  const vault = new OpenVault();
  const fields = { username: role, password: 'canary-secret' };
  await vault.put(
    { org: ORG, object: CONNECTOR, version: 'v1', stream: '' },
    new Map(Object.entries(fields).map(([name, value]) => [name, Buffer.from(value)])),
  );
  const clock = new SystemClock();
  const door = new EgressDoor({
    settings: { allowPrivate: true, allowPlainText: true, allow: [], ownEndpoints: () => [] },
  });
  const driver = new DatabaseDriver({
    ...{ door, vault, clock, randomness: new SystemRandomness(), logger: silentLogger },
    recorder: { record: () => Promise.reject(new Error('no server names its tools')) },
    sql: await loadSqlParser(),
  });
  const base = { ...address, database: owner.database ?? '', ssl: 'disable', ...config };
  const connector = live(base);
  const said: StatementSaid[] = [];
  const send: GivenDatabase['send'] = (toolName, args, changes = {}) =>
    driver.send({
      ...{ org: ORG, action: ACTION, agent: AGENT, connector, toolName, args, attempt: 1, traceparent: null },
      deadlineMonotonicMs: clock.monotonicMs() + 20_000,
      mayStillSend: () => Promise.resolve<ErrorCode | null>(null),
      recordProgress: (statement) => {
        said.push(statement);
        return Promise.resolve(null);
      },
      ...changes,
    });
  return {
    ...{ driver, connector, owner, role, address, said, send },
    withConfig: (changes) => live({ ...base, ...changes }),
    result: async (...call) => {
      const outcome = await send(...call);
      if (outcome.result === null) throw new Error(`no result: ${JSON.stringify(outcome)}`);
      return JSON.parse(outcome.result) as JsonValue;
    },
    close: async () => {
      door.close();
      await owner.end();
      await database.drop();
      await dropRole(database.connectionString, role);
    },
  };
};

const dropRole = async (connectionString: string, role: string): Promise<void> => {
  const address = new URL(connectionString);
  address.pathname = '/postgres';
  const admin = new pg.Client({ connectionString: address.href });
  await admin.connect();
  await admin.query(`drop role if exists ${role}`);
  await admin.end();
};

/** As the log would fold it. */
const live = (config: JsonObject): LiveConnector => {
  const stored = storedDatabaseConfigOf(readDatabaseConfig(config, { isProduction: false }));
  const of = { org: ORG, connector: CONNECTOR, name: 'shop', at: '2026-10-01T00:00:00.000Z' };
  let state: ConnectorState = connectorDecider.evolve(connectorDecider.initialState(), {
    type: 'ConnectorCreated',
    data: { ...of, type: 'database', description: null, config: stored, config_hash: digestOfJson(stored) },
  });
  const facts = { kind: 'database' as never, fields: ['username', 'password'], hint: null, version: 'v1' };
  state = connectorDecider.evolve(state, { type: 'ConnectorCredentialsUpdated', data: { ...of, ...facts } });
  return state as LiveConnector;
};
