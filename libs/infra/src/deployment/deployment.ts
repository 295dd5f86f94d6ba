import { randomBytes } from 'node:crypto';
import type { CommandBus } from '@nestjs/cqrs';
import { AgentKernel, Authenticate, IssueKeys, type KeyHasher } from '#libs/domain/agents';
import {
  ApprovalMailClerk,
  type BudgetReservations,
  GATE_DEFAULTS,
  AdmissionKernel,
  livenessIntervalFor,
  PolicyJudge,
  UnfinishedExecutions,
  type GateSettings,
  type IdempotentIds,
  type ApprovalPlaces,
  type IntentNonces,
  type Liveness,
  type PayloadRows,
} from '#libs/domain/gate';
import {
  CommandRunner,
  FoldedStreams,
  NOTHING_ASSUMED,
  type Bus,
  type Clock,
  type JobQueue,
  type Logger,
  type PayloadStore,
  type Randomness,
} from '#libs/domain/kernel';
import {
  AskedSealKeys,
  LedgerTails,
  RequiredSealKeys,
  SealKeyAdministration,
  type SealedHeads,
  Sealer,
  type SealerProgress,
  type SealKeyRing,
  UnsealedEvents,
} from '#libs/domain/ledger';
import {
  MailClerk,
  Members,
  PersonAdministration,
  PersonSessions,
  SignIn,
  SignInFailures,
  type MailSender,
} from '#libs/domain/people';
import { CompiledPolicies } from '#libs/domain/policies';
import { type ConnectorHealth, ConnectorStreams, ToolRecorder, type Vault } from '#libs/domain/connectors';
import type { DecoderRows } from '#libs/domain/witness';
import { isInitialized, PepperKeyHasher, PostgresKeyDirectory } from '../agents/index.js';
import { PostgresApprovalPlaces } from '../approvals/index.js';
import { approvalLink, baseUrlOf, pageLink, signInLink, type Config } from '../config/index.js';
import { PostgresConnectorHealth, PostgresDecoderRows } from '../connector-health/index.js';
import { ConnectorDrivers, loadSqlParser, type SqlParser } from '../connectors/index.js';
import { EgressDoor, type OwnEndpoint } from '../egress/index.js';
import {
  PepperIds,
  PostgresBudgetReservations,
  PostgresBudgetRows,
  PostgresDueActions,
  PostgresIntentNonces,
  PostgresLiveness,
  PostgresOpenExecutions,
  PostgresPayloadRows,
} from '../gate/index.js';
import { IdempotencyStore } from '../idempotency/index.js';
import { type LeaseSession, PostgresLeases, ProcessPresence } from '../leases/index.js';
import {
  PolledSealingBacklog,
  PostgresSealerProgress,
  SealedHeadsFile,
  sealedHeadsPath,
  VaultSealKeyRing,
} from '../ledger/index.js';
import { ServiceMetrics } from '../metrics/index.js';
import { SmtpMailer } from '../mail/index.js';
import { KeptMails, SmtpMailSender } from '../people/index.js';
import {
  LocalProjectionProgress,
  LocalProjections,
  PolledProjectionProgress,
  type ProjectionProgress,
} from '../read-models/index.js';
import { newTransientMap, readBuildFacts, SystemClock, SystemRandomness } from '../runtime/index.js';
import { PostgresToolDefinitions } from '../tool-definitions/index.js';
import { PostgresVault } from '../vault/index.js';
import { openDatabase, type Database } from './database.js';
import { peopleRowsOf, type PeopleRows } from './people-rows.js';
import { openSecrets, type Secrets } from './secrets.js';
import { bellsOf, type Bells } from './bells.js';
import { administrationBus } from './commands.js';
import { settledEndpoints } from './settled-endpoints.js';

const NOT_INITIALIZED =
  'init has not been run on this database: there is no organization and no seal key, and every call is refused; run ' +
  '`npm run ags -- init` with the settings of this process, which goes on from there';

interface OpenedParts {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly bells: Bells;
  readonly sql: SqlParser;
}

/**
 * Every part of a running deployment, adapters bound to their ports: what the programs (api, worker, projector, command
 * line) are composed from. The one place that chooses between the engines of the two profiles.
 */
export class Deployment {
  readonly database: Database;
  readonly secrets: Secrets;
  private readonly bells: Bells;
  private ownCommands: CommandBus | null = null;
  readonly clock: Clock = new SystemClock();
  readonly randomness: Randomness = new SystemRandomness();
  readonly bus: Bus;
  /** For a process that takes jobs itself. One that leaves them all to others adds to theirs. */
  readonly queue: JobQueue;
  readonly queueOfOthers: Pick<JobQueue, 'add'>;
  readonly streams: FoldedStreams;
  readonly runner: CommandRunner;
  readonly tails: LedgerTails;
  readonly payloads: PayloadStore;
  readonly payloadRows: PayloadRows;
  readonly nonces: IntentNonces;
  readonly places: ApprovalPlaces;
  readonly budgets: BudgetReservations;
  /** The same rows, for whoever keeps them true. */
  readonly budgetRows: PostgresBudgetRows;
  readonly vault: Vault;
  readonly egress: EgressDoor;
  readonly drivers: ConnectorDrivers;
  readonly connectors: ConnectorStreams;
  readonly connectorHealth: ConnectorHealth;
  readonly decoderRows: DecoderRows;
  readonly toolDefinitions: PostgresToolDefinitions;
  readonly directory: PostgresKeyDirectory;
  readonly hasher: KeyHasher;
  readonly ids: IdempotentIds;
  readonly keyRing: SealKeyRing;
  /** For reading; a sealer writes over the session of its lease: {@link sealerProgressOver}. */
  readonly sealerProgress: Pick<SealerProgress, 'lowWater' | 'parked'>;
  readonly unsealed: UnsealedEvents;
  readonly backlog: PolledSealingBacklog;
  readonly openExecutions: PostgresOpenExecutions;
  readonly dueActions: PostgresDueActions;
  readonly unfinished: UnfinishedExecutions;
  readonly liveness: Liveness;
  readonly idempotency: IdempotencyStore;
  readonly people: PeopleRows;
  readonly leases: PostgresLeases;
  /** Held by programs that send webhooks. */
  readonly presence: ProcessPresence;
  readonly localProjections = new LocalProjections();
  /** How far the projections are, wherever they run. */
  readonly projectionProgress: ProjectionProgress;
  /** Names this process in claims and in the liveness table. New at every start: a restarted process is another executor. */
  readonly executorId = `exe_${randomBytes(16).toString('hex')}`;
  readonly gateSettings: GateSettings;
  /** {base_url}, which links begin with: as far as the settings tell, until a server of this process listens. */
  baseUrl: string;
  /** Where this process listens, as far as its settings leave that open: never a destination of a connector. */
  ownEndpoints: readonly OwnEndpoint[] = [];

  private constructor(
    readonly config: Config,
    readonly logger: Logger,
    parts: OpenedParts,
    readonly metrics: ServiceMetrics,
  ) {
    const { database, secrets, bells, sql } = parts;
    this.database = database;
    this.secrets = secrets;
    this.bells = bells;
    const { store, durable, relaxed } = database;
    this.bus = bells.bus;
    this.queue = bells.queue;
    this.queueOfOthers = bells.queueOfOthers;
    metrics.queue = this.queue;
    this.streams = new FoldedStreams(store, undefined, newTransientMap);
    this.runner = new CommandRunner(store, this.streams);
    this.tails = new LedgerTails(store);
    this.payloads = database.payloads;
    this.payloadRows = new PostgresPayloadRows(durable, store);
    this.nonces = new PostgresIntentNonces(durable);
    this.places = new PostgresApprovalPlaces(durable);
    this.budgets = new PostgresBudgetReservations(durable, store);
    this.budgetRows = new PostgresBudgetRows(durable, store);
    this.vault = new PostgresVault(durable, secrets.cipher);
    const settled = settledEndpoints(config, database.connectionString);
    const ownEndpoints = (): readonly OwnEndpoint[] =>
      [...settled, ...this.ownEndpoints].concat(metrics.servedAt ?? []);
    const isDev = config.env === 'dev';
    this.egress = new EgressDoor({
      settings: { allowPrivate: isDev, allowPlainText: isDev, allow: config.egressAllow, ownEndpoints },
    });
    this.connectors = new ConnectorStreams(this.runner, this.streams);
    this.toolDefinitions = new PostgresToolDefinitions(durable);
    const recorder = new ToolRecorder(this.connectors, this.toolDefinitions, this);
    const { clock, randomness, vault, egress: door } = this;
    const tools = { door, vault, clock, randomness, logger, recorder, sql };
    this.drivers = new ConnectorDrivers(tools, { isProduction: config.env === 'production' });
    this.connectorHealth = new PostgresConnectorHealth(relaxed);
    this.decoderRows = new PostgresDecoderRows(relaxed);
    this.directory = new PostgresKeyDirectory(durable);
    this.hasher = new PepperKeyHasher(secrets.pepper);
    this.ids = new PepperIds(secrets.pepper);
    this.keyRing = new VaultSealKeyRing(durable, secrets.cipher);
    this.sealerProgress = new PostgresSealerProgress(durable);
    this.gateSettings = {
      ...GATE_DEFAULTS,
      edgeResultTimeoutMs: config.edgeResultTimeoutMs,
      waitingPerAgentMax: config.waitingPerAgentMax,
      sweepIntervalMs: config.sweepIntervalMs,
      executorSilenceMs: config.executorSilenceMs,
      livenessIntervalMs: livenessIntervalFor(config.executorSilenceMs),
    };
    const { unsealedLimitMs } = this.gateSettings;
    this.unsealed = new UnsealedEvents(store, this.sealerProgress, this.tails);
    this.backlog = new PolledSealingBacklog(store, this.sealerProgress, this.unsealed, this.clock, unsealedLimitMs);
    this.openExecutions = new PostgresOpenExecutions(relaxed, store);
    this.dueActions = new PostgresDueActions(relaxed, store);
    this.unfinished = new UnfinishedExecutions(store, this.openExecutions);
    this.liveness = new PostgresLiveness(relaxed);
    this.idempotency = new IdempotencyStore(durable, this.clock, this.randomness, secrets.pepper);
    this.people = peopleRowsOf(durable, secrets);
    const polled = new PolledProjectionProgress(database.readModels, store, this.clock);
    this.projectionProgress = new LocalProjectionProgress(this.localProjections, polled, this.clock);
    this.baseUrl = baseUrlOf(config, config.port);
    this.leases = new PostgresLeases(database.connectionString, { verify: database.seenLog.verify });
    this.presence = new ProcessPresence(this.leases, this.executorId);
  }

  /**
   * @throws {EmbeddedPostgresError} {SecretFileError} {VaultKeyMismatch} each saying what to do
   */
  static async open(
    config: Config,
    applicationName: string,
    logger: Logger,
    metrics = new ServiceMetrics(readBuildFacts()),
  ): Promise<Deployment> {
    const loading = loadSqlParser();
    const database = await openDatabase(config, applicationName, logger);
    try {
      const secrets = await openSecrets(config, database.durable, new SystemRandomness());
      const bells = await bellsOf(config, database, logger, metrics);
      return new Deployment(config, logger, { database, secrets, bells, sql: await loading }, metrics);
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  /** As {@link open}, for a program that prepares nothing itself: one that was started before `init` says so. */
  static async openPrepared(...opening: Parameters<typeof Deployment.open>): Promise<Deployment> {
    const deployment = await Deployment.open(...opening);
    try {
      const { config, database, logger } = deployment;
      if (!(await isInitialized(database.durable))) {
        logger.warn(NOT_INITIALIZED, {
          state_dir: config.stateDir,
          database: config.databaseUrl === null ? 'embedded in the state directory' : 'of DATABASE_URL',
        });
      }
      return deployment;
    } catch (error) {
      await deployment.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.egress.close();
    await this.bells.close();
    await this.database.close();
  }

  gateKernel(): AdmissionKernel {
    const { streams, runner, clock, randomness, gateSettings: settings, drivers: registry } = this;
    const { nonces, budgets, places, backlog } = this;
    const { store, appends } = this.database;
    const parts = { store, appends, streams, runner, registry, clock, randomness, settings };
    return new AdmissionKernel({ people: this.people.directory, nonces, budgets, places, backlog, ...parts });
  }

  /** @param heads as {@link openSealedHeads} gives them */
  sealer(heads: SealedHeads): Sealer {
    const { streams, keyRing, clock, bus } = this;
    const { store, appends, isTransactional } = this.database;
    const keysInForce = isTransactional ? new RequiredSealKeys(streams) : new AskedSealKeys(streams);
    return new Sealer({ store, appends, keysInForce, keyRing, heads, clock, bus, newMap: newTransientMap });
  }

  /** Of this state directory. Whoever opens them closes them. */
  openSealedHeads(): Promise<SealedHeadsFile> {
    return SealedHeadsFile.open(sealedHeadsPath(this.config.stateDir), this.logger);
  }

  sealerProgressOver(session: LeaseSession): SealerProgress {
    return new PostgresSealerProgress(session);
  }

  sealKeys(): SealKeyAdministration {
    return new SealKeyAdministration(this.runner, this.streams, this.keyRing);
  }

  policyJudge(): PolicyJudge {
    const judge = new PolicyJudge(new CompiledPolicies(this.streams, this.metrics), this.logger, this.metrics);
    judge.followShadows(this.bus);
    return judge;
  }

  authenticate(): Authenticate {
    const assumable = this.database.isTransactional ? this.streams : NOTHING_ASSUMED;
    return new Authenticate(this.streams, this.directory, this.hasher, this.clock, assumable);
  }

  agentKernel(): AgentKernel {
    const keys = new IssueKeys(this.directory, this.hasher, this.randomness);
    return new AgentKernel(this.runner, keys, this.randomness, this.bus);
  }

  /** For a program without Nest's container; the api registers the same handlers with its own bus. */
  get commands(): CommandBus {
    this.ownCommands ??= administrationBus(this.agentKernel(), this.members());
    return this.ownCommands;
  }

  members(): Members {
    const { directory: people, orders, hasher } = this.people;
    const parts = { people, orders, hasher, bus: this.bus };
    return new Members(this.runner, this.streams, parts, this.config.signUp);
  }

  personSessions(): PersonSessions {
    const { rows, directory: people } = this.people;
    const parts = { rows, people, clock: this.clock, randomness: this.randomness };
    return new PersonSessions(this.runner, this.streams, parts, this.bus);
  }

  signIn(): SignIn {
    const { directory: people, ...rows } = this.people;
    const { clock, randomness, bus } = this;
    const sources = { clock, randomness, bus, signUp: this.config.signUp };
    return new SignIn(this.runner, this.streams, this.personSessions(), { people, ...rows }, sources);
  }

  signInFailures(): SignInFailures {
    return new SignInFailures(this.runner, this.people.missedCodes, this.personSessions());
  }

  persons(): PersonAdministration {
    const { directory: people, tokens, hasher } = this.people;
    const parts = { people, tokens, hasher, sessions: this.personSessions() };
    return new PersonAdministration(this.runner, parts, this.randomness);
  }

  mailClerk(): MailClerk {
    const { directory: people, desk, hasher } = this.people;
    const { clock, randomness, streams } = this;
    const approvals = this.approvalMailClerk();
    const isStillOwed = (id: string): Promise<boolean> => approvals.isStillOwed(id);
    const pageOf = (page: 'passkeys' | 'login'): string => pageLink(this.baseUrl, page);
    const [sessions, sender] = [this.personSessions(), this.mailSender()];
    const parts = { people, desk, hasher, sessions, sender, pageOf, isStillOwed };
    return new MailClerk(streams, parts, { clock, randomness }, (token) => signInLink(this.baseUrl, token));
  }

  approvalMailClerk(): ApprovalMailClerk {
    const { directory, links } = this.people;
    const { clock, randomness, streams, payloads } = this;
    const linkOf = (token: string): string => approvalLink(this.baseUrl, token);
    const stored = { people: directory, payloads };
    return new ApprovalMailClerk(streams, links, stored, { clock, randomness }, linkOf);
  }

  private mailSender(): MailSender {
    const { env, smtpUrl, mailFrom } = this.config;
    if (smtpUrl !== null && mailFrom !== null) {
      return new SmtpMailSender(SmtpMailer.of(smtpUrl, mailFrom), new URL(this.baseUrl).hostname, this.logger);
    }
    return new KeptMails(env === 'dev' ? (text) => process.stdout.write(text) : null);
  }
}
