import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Answer, RunningService } from './service.js';

/** Of the two roles; no answer may repeat them. */
export const SHOP_PASSWORD = 'shop-canary-8a1f0c6d2b';
const WITNESS_PASSWORD = 'witness-canary-77d0e41c9f';

const FOLLOWED_WITHIN_MS = 20_000;

/** Two tables that hang together, one with its old rows in the log and one without, and one that is partitioned. */
const TABLES = `
create table customers (id int primary key, name text not null, balance numeric(12,2) not null default 0);
create table orders (id int primary key, customer int references customers on delete cascade, cents bigint not null, note text);
create table visits (id int, day int, primary key (id, day)) partition by list (day);
create table visits_1 partition of visits for values in (1);
create table visits_2 partition of visits for values in (2);
create table plain (id int, note text);
alter table customers replica identity full;
insert into customers select n, 'person ' || n, n from generate_series(1, 200) n;
insert into orders select n, 1 + n % 20, n * 100, 'order ' || n from generate_series(1, 600) n;
insert into visits values (1, 1), (2, 2);
insert into plain values (1, 'one')`;

const POLICY = `version: 1
default: deny
rules:
  - id: shop
    match:
      tools:
        - shop.*
    decision: allow
`;

type Caller = Pick<RunningService, 'call' | 'adminKey' | 'agentKey'>;

/** A database that a connector of the service leads to, with a witness, set up as its owner would. */
export class WitnessedShop {
  readonly role = `agent_${randomBytes(6).toString('hex')}`;
  readonly witness = `witness_${randomBytes(6).toString('hex')}`;
  connector = '';

  private constructor(
    readonly service: Caller,
    readonly owner: pg.Client,
  ) {}

  static async open(service: Caller, connectionString: string): Promise<WitnessedShop> {
    const owner = new pg.Client({ connectionString });
    owner.on('error', () => undefined);
    await owner.connect();
    const shop = new WitnessedShop(service, owner);
    await owner.query(TABLES);
    await owner.query(`create role ${shop.role} login password '${SHOP_PASSWORD}'`);
    await owner.query(`create role ${shop.witness} login replication password '${WITNESS_PASSWORD}'`);
    await owner.query(`grant select, insert, update, delete, truncate on all tables in schema public to ${shop.role}`);
    return shop;
  }

  /** Makes the connector `shop`, lets agents call it, and waits until its log is followed. */
  async connect(config: Record<string, unknown> = {}): Promise<void> {
    const { host, port, database } = this.owner;
    const made = await this.asAdmin('POST', '/v1/connectors', {
      type: 'database',
      name: 'shop',
      config: { host, port, database, ssl: 'disable', witness: { enabled: true, timeout_ms: 20_000 }, ...config },
    });
    this.connector = String(made['id']);
    await this.owner.query(
      `create publication ${this.publication} for table customers, orders, visits with (publish_via_partition_root = true)`,
    );
    await this.asAdmin('PUT', '/v1/connectors/shop/credentials', {
      kind: 'database',
      secret: {
        ...{ username: this.role, password: SHOP_PASSWORD },
        ...{ witness_username: this.witness, witness_password: WITNESS_PASSWORD },
      },
    });
    const policy = await this.asAdmin('POST', '/v1/policies', { name: 'Shop', source: POLICY });
    await this.asAdmin('POST', `/v1/policies/${String(policy['id'])}/versions/1/activate`, { mode: 'enforce' });
    await this.followed();
  }

  get publication(): string {
    return `ags_${this.connector.slice('con_'.length)}`;
  }

  /** Until the decoder says that it follows: a slot is active, too, while it is made, and misses what commits then. */
  private async followed(): Promise<void> {
    for (const startedAt = performance.now(); ; await delay(50)) {
      const { status } = await this.asAdmin('GET', '/v1/connectors/shop/witness');
      if (status === 'healthy') return;
      if (performance.now() - startedAt > FOLLOWED_WITHIN_MS) throw new Error('the change log is not followed');
    }
  }

  call(tool: string, args: object, wait = 20): Promise<Answer> {
    const body = { tool: `shop.${tool}`, args, wait };
    return this.service.call('POST', '/v1/actions', { key: this.service.agentKey, body });
  }

  execute(sql: string, ...params: readonly unknown[]): Promise<Answer> {
    return this.call('execute', { sql, params });
  }

  async asAdmin(method: string, path: string, body?: unknown): Promise<Answer['json']> {
    const answer = await this.service.call(method, path, { key: this.service.adminKey, body });
    if (answer.status >= 300) throw new Error(`${method} ${path} was answered with ${answer.status}: ${answer.text}`);
    return answer.json;
  }

  async count(sql: string): Promise<number> {
    return Number((await this.owner.query<{ n: string }>(sql)).rows[0]?.n);
  }

  async close(): Promise<void> {
    await this.owner.query(
      `select pg_terminate_backend(active_pid) from pg_replication_slots where database = current_database() and active`,
    );
    await this.owner.query(
      `select pg_drop_replication_slot(slot_name) from pg_replication_slots where database = current_database() and not active`,
    );
    await this.owner.query(`drop owned by ${this.role}; drop role ${this.role}; drop role ${this.witness}`);
    await this.owner.end();
  }
}
