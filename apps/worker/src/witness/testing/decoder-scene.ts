import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { actionMark, digestOf, type JsonObject } from '#libs/crypto';
import { type ConnectorEvent, ConnectorStreams } from '#libs/domain/connectors';
import {
  CommandRunner,
  type ConnectorId,
  decodeEvent,
  FoldedStreams,
  START,
  type MeteredDecoder,
  NO_METER,
  type SeenTransaction,
} from '#libs/domain/kernel';
import { type DecoderAddress, DecoderLog } from '#libs/domain/witness';
import { PostgresDecoderRows } from '#libs/infra/connector-health';
import { MemoryEventStore } from '#libs/infra/event-store';
import { SystemRandomness } from '#libs/infra/runtime';
import { installSchemas } from '#libs/infra/schemas';
import { PostgresVault, VaultCipher } from '#libs/infra/vault';
import { collectingLogger } from '../../../../../test/support/collecting-logger.js';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/database.js';
import { GivenLog, TEST_ORG, testId, testTime } from '../../../../../test/support/given-log.js';
import { SetClock } from '../../../../../test/support/ledger-fixtures.js';
import { Decoder, type DecoderPace, type DecoderParts } from '../decoder.js';
import { FakeChangeLog } from './fake-change-log.js';
import { FakeVerdicts } from './fake-verdicts.js';

const SECRET = { username: 'agent', password: 'one', witness_username: 'witness', witness_password: 'two' };
const PACE: DecoderPace = { lookMs: 5, graceMs: 10_000, firstRetryMs: 2, lastRetryMs: 10, retireMs: 10 };
const CONFIG: JsonObject = { host: 'db.example.com', port: 5432, database: 'shop', witness: { enabled: true } };

let numbers = 0;

/** A connector of its own and all that its decoder needs: ours as it is, the database and the gate's witness in memory. */
export class DecoderScene {
  readonly connector: ConnectorId;
  readonly of: DecoderAddress;
  readonly source = new FakeChangeLog();
  readonly verdicts = new FakeVerdicts();
  readonly clock = new SetClock();
  readonly logger = collectingLogger();
  readonly seen: SeenTransaction[] = [];
  /** As metrics have it; null once nothing is followed. */
  stands: MeteredDecoder | null | undefined = undefined;
  readonly rows: PostgresDecoderRows;
  readonly log: DecoderLog;
  readonly connectors: ConnectorStreams;
  private readonly store = new MemoryEventStore();
  private readonly given = new GivenLog(this.store);
  private readonly vault: PostgresVault;
  private versions = 0;

  private constructor(pool: pg.Pool) {
    const number = (numbers += 1);
    this.connector = testId('con', 7_000 + number);
    this.of = { org: TEST_ORG, connector: this.connector, name: `billing-${number}` };
    const streams = new FoldedStreams(this.store);
    const runner = new CommandRunner(this.store, streams);
    this.connectors = new ConnectorStreams(runner, streams);
    this.log = new DecoderLog(runner, streams, { clock: this.clock, randomness: new SystemRandomness() });
    this.rows = new PostgresDecoderRows(pool);
    this.vault = new PostgresVault(pool, new VaultCipher(randomBytes(32), new SystemRandomness()));
  }

  static async begin(pool: pg.Pool, config: JsonObject = {}): Promise<DecoderScene> {
    const scene = new DecoderScene(pool);
    await scene.connectorIs({
      type: 'ConnectorCreated',
      data: {
        ...scene.about,
        type: 'database',
        description: null,
        config: { ...CONFIG, ...config },
        config_hash: digestOf('1'),
      },
    });
    await scene.credentialIs(SECRET);
    return scene;
  }

  get about() {
    return { ...this.of, at: testTime(0) };
  }

  get slot(): string {
    return `ags_${this.connector.slice(4)}`;
  }

  connectorIs(...events: readonly ConnectorEvent[]): Promise<void> {
    return this.given.append(`connector-${this.of.org}-${this.of.name}`, ...events);
  }

  /** The config after a change. */
  configIs(changed: JsonObject): Promise<void> {
    const config = { ...CONFIG, ...changed };
    return this.connectorIs({
      type: 'ConnectorUpdated',
      data: { ...this.about, config, config_hash: digestOf(JSON.stringify(config)) },
    });
  }

  private get version(): string {
    return `v${this.versions}`;
  }

  async credentialIs(secret: Readonly<Record<string, string>>): Promise<void> {
    this.versions += 1;
    const { org, connector: object } = this.of;
    const stored = { org, object, version: this.version, stream: `connector-${org}-${this.of.name}` };
    const fields = Object.entries(secret).map(([field, value]) => [field, Buffer.from(value)] as const);
    await this.vault.put(stored, new Map(fields));
    const facts = { kind: 'database', fields: Object.keys(secret), hint: null, version: this.version } as const;
    await this.connectorIs({ type: 'ConnectorCredentialsUpdated', data: { ...this.about, ...facts } });
  }

  async deleteConnector(): Promise<void> {
    await this.connectorIs({ type: 'ConnectorDeleted', data: { ...this.about, credential_version: this.version } });
    await this.vault.destroy({ org: this.of.org, object: this.connector, version: this.version });
  }

  /** @param parts others than those of the scene */
  decoder(parts: Partial<DecoderParts> = {}): Decoder {
    return new Decoder({ ...this.parts(), ...parts }, this.of, PACE);
  }

  parts(): DecoderParts {
    const { connectors, source, verdicts, log, rows, clock, logger, vault } = this;
    const meter = {
      ...NO_METER,
      transactionSeen: (result: SeenTransaction) => void this.seen.push(result),
      decoderStands: (_: string, stands: MeteredDecoder | null) => (this.stands = stands),
    };
    return { connectors, source, verdicts, waiting: verdicts, log, rows, clock, logger, vault, meter };
  }

  /** As the driver makes it for a transaction of this number. */
  async mark(action: number, xid: number, attempt = 1): Promise<string> {
    const key = await this.vault.markKeyOf({ org: this.of.org, object: this.connector });
    return actionMark(key, { action: testId('act', action), attempt, xid });
  }

  /** What the decoder has said in the log of the service. */
  async said(): Promise<readonly unknown[]> {
    const said: unknown[] = [];
    for (const recorded of await this.store.readAll(START, 1_000)) {
      if (!recorded.stream.startsWith('decoder-')) continue;
      const { type, data } = decodeEvent(recorded).event as { type: string; data: Record<string, unknown> };
      const members = Object.entries(data).filter(([name]) => !['org', 'connector', 'name', 'at'].includes(name));
      said.push([type, Object.fromEntries(members)]);
    }
    return said;
  }

  pass(ms: number): void {
    this.clock.ms += ms;
  }
}

export interface SceneDatabase {
  readonly pool: pg.Pool;
  readonly connectionString: string;
  close(): Promise<void>;
}

export const sceneDatabase = async (): Promise<SceneDatabase> => {
  const database: TestDatabase = await createTestDatabase();
  const { connectionString } = database;
  const pool = new pg.Pool({ connectionString, max: 8 });
  await installSchemas(pool, ['vault', 'connector_health']);
  return {
    pool,
    connectionString,
    close: async () => {
      await pool.end();
      await database.drop();
    },
  };
};
