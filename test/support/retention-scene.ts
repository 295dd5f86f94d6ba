import pg from 'pg';
import { digestOf } from '#libs/crypto';
import type { ActionId, OrgId, PayloadKind, RecordedEvent } from '#libs/domain/kernel';
import { FoldedStreams, idInStream, OPERATOR, timestampOf } from '#libs/domain/kernel';
import { LedgerReader, PayloadRetention, RetentionReach, type RetentionRows } from '#libs/domain/ledger';
import { organizationDecider } from '#libs/domain/people';
import { PostgresEventStore } from '#libs/infra/event-store';
import { PostgresPayloadStore, PostgresRetentionRows } from '#libs/infra/gate';
import { createWholeDatabase, type TestDatabase } from './database.js';
import { testId } from './given-log.js';
import { LedgerBench, newOrg } from './ledger-fixtures.js';

export const DAY_MS = 24 * 60 * 60 * 1000;
/** What the fixtures' actions name as their policy input. */
const BODY = 'fixture';

/** A log, ledgers and bodies on a PostgreSQL of their own, under a clock that a spec moves. */
export class RetentionScene {
  readonly bench: LedgerBench;
  readonly payloads: PostgresPayloadStore;
  readonly rows: PostgresRetentionRows;
  readonly reach: RetentionReach;
  private commands = 0;

  private constructor(
    private readonly database: TestDatabase,
    readonly pool: pg.Pool,
    readonly store: PostgresEventStore,
  ) {
    this.bench = new LedgerBench(store);
    this.payloads = new PostgresPayloadStore(pool);
    this.rows = new PostgresRetentionRows(pool);
    this.reach = new RetentionReach(store, this.rows);
  }

  static async start(): Promise<RetentionScene> {
    const database = await createWholeDatabase();
    const { connectionString } = database;
    const pool = new pg.Pool({ connectionString, max: 4 });
    pool.on('error', () => undefined);
    const options = { connectionString, applicationName: 'retention', onConnectionLost: () => undefined };
    const scene = new RetentionScene(database, pool, new PostgresEventStore(options));
    await scene.bench.activateKey();
    return scene;
  }

  async close(): Promise<void> {
    await this.store.close();
    await this.pool.end();
    await this.database.drop();
  }

  /** Its first deed is the one of its creation. */
  async organization(): Promise<OrgId> {
    const org = newOrg();
    const data = { org, name: 'Test', timezone: 'UTC', owner: testId('usr', 1), membership: testId('mem', 1) };
    await this.command(org, { type: 'CreateOrganization', data });
    await this.seal();
    return org;
  }

  async keepFor(org: OrgId, retentionDays: number | null): Promise<void> {
    await this.command(org, { type: 'UpdateOrganization', data: { retentionDays } });
  }

  /** An action with both bodies, which is not sealed yet. */
  async recorded(org: OrgId, kind: 'refused' | 'executed' = 'refused'): Promise<ActionId> {
    const action = idInStream(await this.bench.recordAction(org, kind)) as ActionId;
    await this.putBody(org, action, 'policy_input');
    await this.putBody(org, action, 'result');
    return action;
  }

  async sealed(org: OrgId): Promise<ActionId> {
    const action = await this.recorded(org);
    await this.seal();
    return action;
  }

  async seal(): Promise<void> {
    await this.bench.feed(this.bench.sealer(), await this.bench.log());
  }

  pass(ms: number): void {
    this.bench.clock.ms += ms;
  }

  retention(batchDeeds?: number, rows: RetentionRows = this.rows): PayloadRetention {
    const { store, bench } = this;
    return new PayloadRetention(new FoldedStreams(store), new LedgerReader(store), rows, bench.clock, batchDeeds);
  }

  /** How many bodies each has. */
  async bodiesOf(...actions: readonly ActionId[]): Promise<readonly number[]> {
    const { rows } = await this.pool.query<{ owner: string; bodies: string }>(
      'select owner, count(*) as bodies from gate.payloads group by owner',
    );
    const bodies = new Map(rows.map(({ owner, bodies: count }) => [owner, Number(count)]));
    return actions.map((action) => bodies.get(action) ?? 0);
  }

  /** Up to where bodies are removed, by the word of the row alone. */
  async cursor(org: OrgId): Promise<number | null> {
    return (await this.rows.cursorOf(org))?.revision ?? null;
  }

  async ledger(org: OrgId): Promise<readonly RecordedEvent[]> {
    return this.bench.ledgerOf(org);
  }

  private async putBody(org: OrgId, owner: ActionId, kind: PayloadKind): Promise<void> {
    await this.payloads.put({ owner, org, kind, digest: digestOf(BODY), body: BODY });
  }

  private async command(org: OrgId, command: { type: string; data: object }): Promise<void> {
    this.commands += 1;
    const now = timestampOf(this.bench.clock.ms);
    const metadata = { org, actor: OPERATOR, requestId: null, commandId: `command ${this.commands}`, now };
    await this.bench.runner.run(organizationDecider, org, { ...command, metadata } as never, metadata);
  }
}
