import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DynamicModule, Module, type ModuleMetadata, type Provider } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import pg from 'pg';
import { expect } from 'vitest';
import { AgentKernel, Authenticate, IssueKeys, KeyDirectory } from '#libs/domain/agents';
import {
  ConnectorBreakers,
  ConnectorHealth,
  ConnectorSettings,
  ConnectorStreams,
  ConnectorTests,
  ToolDefinitions,
  ToolDiscovery,
  ToolRecorder,
  EgressPolicy,
  RunningExecutions,
  Vault,
} from '#libs/domain/connectors';
import { BudgetReservations, ConnectorRegistry, PolicyJudge } from '#libs/domain/gate';
import {
  Bus,
  Clock,
  CommandRunner,
  EventStore,
  FoldedStreams,
  Logger,
  OPERATOR,
  PayloadStore,
  Randomness,
  type Position,
  SeenHeads,
} from '#libs/domain/kernel';
import {
  BrokenLedgers,
  CheckpointJournal,
  CheckpointMaker,
  CheckpointSigningKeys,
  LedgerTails,
  LedgerTrees,
  RetentionReach,
  SealKeyAdministration,
  type Sealer,
  WitnessAsking,
  WitnessPolicies,
  WitnessStandings,
  WitnessWatch,
} from '#libs/domain/ledger';
import { checkpointsOf } from '#libs/infra/deployment';
import { organizationDecider, PeopleDirectory } from '#libs/domain/people';
import { CompiledPolicies } from '#libs/domain/policies';
import { Replays } from '#libs/domain/replays';
import { PepperKeyHasher } from '#libs/infra/agents';
import { DecoderRows } from '#libs/domain/witness';
import { PostgresConnectorHealth, PostgresDecoderRows } from '#libs/infra/connector-health';
import { PostgresToolDefinitions } from '#libs/infra/tool-definitions';
import { ConnectorDrivers } from '#libs/infra/connectors';
import { EgressDoor, type EgressDoorOptions } from '#libs/infra/egress';
import { PostgresEventStore } from '#libs/infra/event-store';
import { PostgresPayloadStore, PostgresRetentionRows } from '#libs/infra/gate';
import { PepperSignInHasher, PostgresPeopleDirectory, SealedAddresses } from '#libs/infra/people';
import {
  type ProjectionName,
  ProjectionProgress,
  ProjectionWaiter,
  ReadModels,
  type RowType,
} from '#libs/infra/read-models';
import { PostgresRecordedCalls, PostgresReplayRows } from '#libs/infra/replays';
import { SystemClock, SystemRandomness } from '#libs/infra/runtime';
import { PostgresVault, VaultCipher } from '#libs/infra/vault';
import { installSchemas } from '#libs/infra/schemas';
import { PROJECTIONS } from '../../apps/projector/src/projections.js';
import { undescribedIn } from '../http/described-answer.js';
import { clientOf, type JsonAnswer } from '../http/edge-client.js';
import { ADMIN_KEY, ORG, startEdge, type TestEdge } from '../http/edge-harness.js';
import { webhookPorts } from './api-webhooks.js';
import { collectingLogger } from './collecting-logger.js';
import { followLog } from './follow-log.js';
import { testId } from './given-log.js';
import { HeldBudgets } from './held-budgets.js';
import { writeRows } from './given-rows.js';
import { HeldDirectory } from './held-directory.js';
import { LedgerBench } from './ledger-fixtures.js';
import { createTestReadModels, type TestReadModels } from './read-models.js';
import { NO_SQL } from './no-sql.js';

const MADE_AT = '2026-10-01T12:00:00.000Z';

/** Runs a projection whenever a list waits for it; with `isHeldUp` it never gets there. */
class ProjectionOnDemand extends ProjectionProgress {
  isHeldUp = false;

  constructor(
    private readonly store: EventStore,
    private readonly readModels: TestReadModels,
  ) {
    super();
  }

  override async reach(name: ProjectionName, position: Position): Promise<Position> {
    if (this.isHeldUp) return position - 1n;
    const projection = PROJECTIONS.find((each) => each.name === name);
    if (!projection) throw new Error(`no projection ${name}`);
    await followLog(projection, this.store, this.readModels.projections);
    return position;
  }
}

/** Whether an action on any connector is running, as a test says. */
class SetExecutions extends RunningExecutions {
  isRunning = false;

  override isAnyRunning(): Promise<boolean> {
    return Promise.resolve(this.isRunning);
  }
}

/** What connectors reach: any public name, and nothing inside; no connection ever comes up. */
const CLOSED_DOOR: EgressDoorOptions = {
  settings: { allowPrivate: false, allowPlainText: true, allow: [], ownEndpoints: () => [] },
  resolve: (host) => Promise.resolve([host.startsWith('inner.') ? '10.0.0.1' : '93.184.216.34']),
};

@Module({})
class PortsModule {}

/**
 * Modules of the api behind the whole edge, over a PostgreSQL of their own: events, rows and credentials are real, only
 * keys (edge-harness.ts) and DNS are not. The organization is the one that the harness's keys belong to.
 */
export class ApiBench {
  private readonly plain = clientOf(() => this.edge);
  readonly executions = new SetExecutions();
  readonly budgets = new HeldBudgets();
  readonly logger = collectingLogger();
  private readonly stateDir = mkdtempSync(join(tmpdir(), 'api-bench-'));
  readonly progress: ProjectionOnDemand;
  readonly ledger: LedgerBench;
  /** The real key pipeline, for keys that were made here; requests are let in by the harness's. */
  readonly authenticate: Authenticate;
  private readonly directory = new HeldDirectory();
  private readonly hasher = new PepperKeyHasher(randomBytes(32));
  private readonly sealer: Sealer;
  private running: TestEdge | null = null;

  private constructor(
    private readonly readModels: TestReadModels,
    readonly store: PostgresEventStore,
    readonly pool: pg.Pool,
    private readonly door: EgressDoorOptions,
  ) {
    this.progress = new ProjectionOnDemand(store, readModels);
    this.ledger = new LedgerBench(store);
    this.sealer = this.ledger.sealer();
    this.authenticate = new Authenticate(
      this.ledger.streams,
      this.directory,
      this.hasher,
      new SystemClock(),
      this.ledger.streams,
    );
  }

  /** @param door of connectors, for tests that reach what they serve: as in development, plain text is open with it */
  static async start(
    imports: NonNullable<ModuleMetadata['imports']>,
    door: EgressDoorOptions = CLOSED_DOOR,
  ): Promise<ApiBench> {
    const readModels = await createTestReadModels();
    const { connectionString } = readModels;
    const store = new PostgresEventStore({
      connectionString,
      applicationName: 'ags tests',
      onConnectionLost: () => undefined,
    });
    const pool = new pg.Pool({ connectionString, max: 2 });
    await installSchemas(pool, ['vault', 'ledger', 'idempotency', 'connector_health', 'tool_definitions', 'people']);
    const bench = new ApiBench(readModels, store, pool, door);
    await bench.makeOrganization();
    const ports: DynamicModule = {
      module: PortsModule,
      global: true,
      providers: bench.ports(),
      exports: bench.ports(),
    };
    bench.running = await startEdge({
      controllers: [],
      imports: [CqrsModule.forRoot(), ports, ...imports],
      connectionString,
    });
    return bench;
  }

  /** Of the database that all of it is in. */
  get connectionString(): string {
    return this.readModels.connectionString;
  }

  /** Writes rows as the projector would. */
  write<Row extends object>(rowType: RowType<Row>, rows: readonly Row[]): Promise<void> {
    return writeRows(this.readModels.source, rowType, rows);
  }

  get edge(): TestEdge {
    if (!this.running) throw new Error('the bench has not started');
    return this.running;
  }

  /** Sends a request, and holds whatever comes back against the interface description. */
  async send(method: string, path: string, init: RequestInit = {}): Promise<JsonAnswer> {
    const answer = await this.plain.send(method, path, init);
    expect(undescribedIn(method, path, answer)).toEqual([]);
    return answer;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<JsonAnswer> {
    return this.send('GET', path, { headers });
  }

  /** What a sealer does with the log as it stands. */
  async seal(): Promise<void> {
    await this.ledger.feed(this.sealer, await this.ledger.log());
  }

  /** The harness's admin key is one of the organization's own, which judges who changes it. One event, and so one deed, more. */
  async ownAdminKey(): Promise<void> {
    const record = { key: ADMIN_KEY, prefix: 'harness0', hash: 'a keyed hash', livemode: false };
    const metadata = { org: ORG, actor: OPERATOR, requestId: null, commandId: 'make the admin key', now: MADE_AT };
    const command = { type: 'CreateAdminKey', data: { record }, metadata } as const;
    await this.ledger.runner.run(organizationDecider, ORG, command, metadata);
  }

  async close(): Promise<void> {
    await this.running?.close();
    await this.pool.end();
    await this.store.close();
    await this.readModels.drop();
    await rm(this.stateDir, { recursive: true });
  }

  private async makeOrganization(): Promise<void> {
    const metadata = { org: ORG, actor: OPERATOR, requestId: null, commandId: 'make the organization', now: MADE_AT };
    const data = { org: ORG, name: 'Test', timezone: 'UTC', owner: testId('usr', 1), membership: testId('mem', 1) };
    await this.ledger.runner.run(organizationDecider, ORG, { type: 'CreateOrganization', data, metadata }, metadata);
  }

  private ports(): Provider[] {
    const { store, ledger } = this;
    const { streams, runner } = ledger;
    const randomness = new SystemRandomness();
    const clock = new SystemClock();
    const cipher = new VaultCipher(randomBytes(32), randomness);
    const vault = new PostgresVault(this.pool, cipher);
    const egress = new EgressDoor(this.door);
    const checkpoints = checkpointsOf({
      database: { store, durable: this.pool },
      ...{ secrets: { cipher }, runner, streams, clock, randomness, baseUrl: 'https://ags.example.com' },
      egress,
      config: {
        env: this.door === CLOSED_DOOR ? ('production' as const) : ('dev' as const),
        stateDir: this.stateDir,
      },
      logger: this.logger,
    });
    const people = new PostgresPeopleDirectory(
      this.pool,
      new PepperSignInHasher(randomBytes(32)),
      new SealedAddresses(cipher),
    );
    const connectors = new ConnectorStreams(runner, streams);
    const definitions = new PostgresToolDefinitions(this.pool);
    const recorder = new ToolRecorder(connectors, definitions, { clock, randomness });
    const tools = { door: egress, vault, clock, randomness, logger: this.logger, recorder, sql: NO_SQL };
    const isProduction = this.door === CLOSED_DOOR;
    const registry = new ConnectorDrivers(tools, { isProduction });
    const settings = new ConnectorSettings(isProduction);
    const health = new PostgresConnectorHealth(this.pool);
    const breakers = new ConnectorBreakers({ runner, streams, clock, randomness });
    const issue = new IssueKeys(this.directory, this.hasher, randomness);
    return [
      { provide: AgentKernel, useValue: new AgentKernel(runner, issue, randomness, ledger.bus) },
      { provide: KeyDirectory, useValue: this.directory },
      { provide: EventStore, useValue: store },
      { provide: SeenHeads, useValue: store },
      { provide: FoldedStreams, useValue: streams },
      { provide: CommandRunner, useValue: runner },
      { provide: BudgetReservations, useValue: this.budgets },
      { provide: Clock, useValue: clock },
      { provide: Randomness, useValue: randomness },
      { provide: Bus, useValue: ledger.bus },
      { provide: LedgerTails, useValue: new LedgerTails(store) },
      { provide: Logger, useValue: this.logger },
      { provide: PolicyJudge, useValue: new PolicyJudge(new CompiledPolicies(streams), this.logger) },
      { provide: SealKeyAdministration, useValue: new SealKeyAdministration(runner, streams, ledger.keys) },
      { provide: CheckpointSigningKeys, useValue: checkpoints.keys },
      { provide: CheckpointJournal, useValue: checkpoints.journal },
      { provide: LedgerTrees, useValue: checkpoints.trees },
      { provide: BrokenLedgers, useValue: checkpoints.broken },
      { provide: CheckpointMaker, useValue: checkpoints.maker },
      { provide: WitnessPolicies, useValue: checkpoints.policies },
      { provide: WitnessStandings, useValue: checkpoints.standings },
      { provide: WitnessAsking, useValue: checkpoints.asking },
      { provide: WitnessWatch, useValue: checkpoints.watch },
      { provide: ReadModels, useValue: new ReadModels(this.readModels.source) },
      { provide: ProjectionWaiter, useValue: new ProjectionWaiter(store, this.progress) },
      { provide: ConnectorStreams, useValue: connectors },
      { provide: ConnectorSettings, useValue: settings },
      { provide: ConnectorRegistry, useValue: registry },
      { provide: ConnectorHealth, useValue: health },
      { provide: DecoderRows, useValue: new PostgresDecoderRows(this.pool) },
      { provide: ToolDefinitions, useValue: definitions },
      {
        provide: ToolDiscovery,
        useValue: new ToolDiscovery(connectors, health, { registry, clock, logger: this.logger }),
      },
      {
        provide: ConnectorTests,
        useValue: new ConnectorTests(connectors, health, { vault, egress, registry, settings, clock, breakers }),
      },
      { provide: PeopleDirectory, useValue: people },
      { provide: RunningExecutions, useValue: this.executions },
      { provide: EgressPolicy, useValue: egress },
      { provide: Vault, useValue: vault },
      { provide: PayloadStore, useValue: new PostgresPayloadStore(this.pool) },
      { provide: RetentionReach, useValue: new RetentionReach(this.store, new PostgresRetentionRows(this.pool)) },
      {
        provide: Replays,
        useValue: new Replays(streams, new PostgresReplayRows(this.pool), new PostgresRecordedCalls(this.pool)),
      },
      ...webhookPorts({ pool: this.pool, vault, streams, runner, bus: ledger.bus, clock, logger: this.logger }),
    ];
  }
}
