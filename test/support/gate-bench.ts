import type { CommandBus } from '@nestjs/cqrs';
import { AgentKernel, IssueKeys, type KeyHasher } from '#libs/domain/agents';
import {
  AGENT_HANDLERS,
  CreateAgentKey,
  CreateOrganization,
  ORGANIZATION_HANDLERS,
  RegisterAgent,
} from '#libs/domain/agents/handlers';
import {
  ConnectorSettings,
  ConnectorStreams,
  CreateConnector,
  CreateConnectorHandler,
  ToolDiscovery,
  ToolRecorder,
  type OpenedSecret,
  Vault,
  type ConnectorStatus,
  type ConnectorType,
  type LiveConnector,
  connectorDecider,
  connectorStreamId,
} from '#libs/domain/connectors';
import {
  type Accepted,
  actionDecider,
  ActionExecutor,
  type BudgetReservations,
  ExecutionStarter,
  GATE_DEFAULTS,
  AdmissionKernel,
  PolicyJudge,
  SealingBacklog,
  SubmitAction,
  SubmitActionHandler,
  type Action,
  type ActionRequest,
  type Claimant,
  type GateSettings,
  type IntentNonces,
  type SubmittedAction,
} from '#libs/domain/gate';
import {
  type Bus,
  CommandRunner,
  FoldedStreams,
  streamRef,
  timestampOf,
  type ActionId,
  type AgentId,
  type Clock,
  type CommandMetadata,
  type EventStore,
  type KeyId,
  type OrgId,
  type PolicyId,
  type UserId,
} from '#libs/domain/kernel';
import {
  ActivatePolicyVersion,
  ActivatePolicyVersionHandler,
  CompiledPolicies,
  CreatePolicy,
  CreatePolicyHandler,
} from '#libs/domain/policies';
import type { PolicyMode } from '#libs/domain/people';
import { digestOfJson, type JsonObject } from '#libs/crypto';
import { commandBusOf } from '#libs/infra/commands';
import { ConnectorDrivers } from '#libs/infra/connectors';
import { EgressDoor } from '#libs/infra/egress';
import { PepperIds } from '#libs/infra/gate';
import { PepperKeyHasher } from '#libs/infra/agents';
import { InProcessBus, SystemClock, SystemRandomness } from '#libs/infra/runtime';
import { HeldDefinitions } from './held-definitions.js';
import { HeldDirectory } from './held-directory.js';
import { HeldBudgets } from './held-budgets.js';
import { HeldNonces } from './held-nonces.js';
import { HeldPayloads } from './held-payloads.js';
import { HeldPlaces } from './held-places.js';
import { profileOf } from './log-profile.js';
import { silentLogger } from './silent-logger.js';
import { NO_SQL } from './no-sql.js';

const random = new SystemRandomness();

/** Nothing is ever stored: every credential that a connector's events name is the same token. */
class OneTokenVault extends Vault {
  token = 'token-of-the-bench';

  override put(): Promise<void> {
    return Promise.reject(new Error('this vault stores nothing'));
  }
  override open(): Promise<OpenedSecret> {
    const fields = new Map([['token', Buffer.from(this.token)]]);
    return Promise.resolve({ fields, destroy: () => undefined });
  }
  override destroy(): Promise<void> {
    return Promise.resolve();
  }
  override markKeyOf(): Promise<Uint8Array> {
    return Promise.resolve(Buffer.alloc(32));
  }
  override async *olderThan(): AsyncIterable<never> {
    // Nothing was ever stored.
  }
}

class NothingWaits extends SealingBacklog {
  ageMs = 0;
  override oldestUnsealedAgeMs(): number {
    return this.ageMs;
  }
}

/** The time of day jumps by what a test says; the monotonic clock never does. */
class JumpingClock implements Clock {
  private readonly system = new SystemClock();
  jumpMs = 0;

  nowMs(): number {
    return this.system.nowMs() + this.jumpMs;
  }
  monotonicMs(): number {
    return this.system.monotonicMs();
  }
}

/** Accepts and claims as the standalone process does, and leaves the run to the test. */
export class ManualStarter extends ExecutionStarter {
  readonly withdrawn: string[] = [];
  readonly accepted: Accepted[] = [];

  constructor(
    private readonly executorId: string | null,
    private readonly run: ((accepted: Accepted) => void) | null,
  ) {
    super();
  }

  override claimant(): Claimant | null {
    return this.executorId === null
      ? null
      : { executor: this.executorId, claim: Buffer.from(random.bytes(16)).toString('hex') };
  }

  override withdraw({ claim }: Claimant, mayStand: boolean): void {
    if (mayStand) this.withdrawn.push(claim);
  }

  override start(accepted: Accepted): Promise<void> {
    this.accepted.push(accepted);
    this.run?.(accepted);
    return Promise.resolve();
  }
}

const POLICY = `version: 1
default: deny
rules:
  - id: everything-of-crm
    match:
      tools:
        - crm.*
    decision: allow
`;

/** One organization, one agent, one REST connector `crm` on a real upstream, and the gate's handlers around one store. */
export class GateBench {
  readonly clock = new JumpingClock();
  readonly streams: FoldedStreams;
  readonly runner: CommandRunner;
  readonly bus = new InProcessBus(silentLogger);
  readonly payloads = new HeldPayloads();
  readonly backlog = new NothingWaits();
  readonly places = new HeldPlaces();
  /** Whose an address is, by its normal form. */
  readonly mailboxes = new Map<string, UserId>();
  readonly gate: AdmissionKernel;
  readonly vault = new OneTokenVault();
  readonly executorId = 'exe_test';
  readonly executor: ActionExecutor;
  /** Of agents, of admin keys and of the Stop of an organization. */
  readonly commands: CommandBus;
  readonly ids = new PepperIds(Buffer.alloc(32, 7));
  private readonly door: EgressDoor;
  readonly policies: CompiledPolicies;
  readonly judge: PolicyJudge;
  private readonly issue: IssueKeys;
  org = '' as OrgId;
  agent = '' as AgentId;
  key = '' as KeyId;

  constructor(
    readonly store: EventStore,
    settings: Partial<GateSettings> = {},
    nonces: IntentNonces = new HeldNonces(),
    budgets: BudgetReservations = new HeldBudgets(),
  ) {
    this.streams = new FoldedStreams(store);
    this.runner = new CommandRunner(store, this.streams);
    this.door = new EgressDoor({
      settings: { allowPrivate: true, allowPlainText: true, allow: [], ownEndpoints: () => [] },
    });
    const tools = {
      door: this.door,
      vault: this.vault,
      clock: this.clock,
      randomness: random,
      logger: silentLogger,
      recorder: new ToolRecorder(new ConnectorStreams(this.runner, this.streams), new HeldDefinitions(), {
        clock: this.clock,
        randomness: random,
      }),
      sql: NO_SQL,
    };
    const registry = new ConnectorDrivers(tools, { isProduction: false });
    const { streams, runner, clock, backlog } = this;
    const { appends } = profileOf(store, (payload) => this.payloads.put(payload));
    this.gate = new AdmissionKernel({
      store,
      appends,
      streams,
      runner,
      registry,
      clock,
      randomness: random,
      settings: { ...GATE_DEFAULTS, ...settings },
      nonces,
      budgets,
      people: { usersAt: async (asked) => asked.flatMap(({ normal }) => this.mailboxes.get(normal) ?? []) },
      places: this.places,
      backlog,
    });
    this.executor = new ActionExecutor(this.gate, this.executorId, this.payloads, this.bus, silentLogger);
    const hasher: KeyHasher = new PepperKeyHasher(Buffer.alloc(32, 7));
    this.issue = new IssueKeys(new HeldDirectory(), hasher, random);
    this.commands = this.commandsOver(runner, this.bus);
    this.policies = new CompiledPolicies(streams);
    this.judge = new PolicyJudge(this.policies, silentLogger);
  }

  /** @param settings of the connector's config, beside those that it always has */
  async prepare(upstreamUrl: string, tools: readonly JsonObject[], settings: JsonObject = {}): Promise<this> {
    const { organization } = await this.commands.execute(new CreateOrganization('Acme', this.metadata()));
    this.org = organization.org;
    const { agent } = await this.commands.execute(
      new RegisterAgent(this.org, { name: 'support-1', owner: null }, this.metadata()),
    );
    this.agent = agent.agent;
    this.key = (
      await this.commands.execute(new CreateAgentKey(this.org, this.agent, { livemode: false }, this.metadata()))
    ).key;
    await this.enforce(POLICY);
    const config = {
      base_url: upstreamUrl,
      allowed_methods: ['GET', 'POST', 'DELETE'],
      allowed_path_prefixes: ['/v1'],
      tools: [...tools],
      ...settings,
    };
    await this.connect('rest', 'crm', config);
    return this;
  }

  /** Another connector, by the way that the API makes one. */
  async connect(type: ConnectorType, name: string, config: JsonObject): Promise<LiveConnector> {
    const connectors = new ConnectorStreams(this.runner, this.streams);
    const health = { begin: () => Promise.resolve(null) };
    // Nobody is asked for tools but by what a test does.
    const parts = { registry: { driverOf: () => null }, clock: this.clock, logger: silentLogger };
    const discovery = new ToolDiscovery(connectors, health, parts);
    const create = new CreateConnectorHandler(connectors, this.door, new ConnectorSettings(false), discovery);
    const request = { type, name, description: null, config };
    return create.execute(new CreateConnector(this.org, request, this.metadata()));
  }

  enforce(source: string): Promise<PolicyId> {
    return this.activate(source, 'enforce');
  }

  async activate(source: string, mode: PolicyMode): Promise<PolicyId> {
    const described = { org: this.org, name: 'Test', source, notes: null, origin: 'user' as const };
    const { policy } = await new CreatePolicyHandler(this.runner).execute(new CreatePolicy(described, this.metadata()));
    const activation = new ActivatePolicyVersion(this.org, { policy, version: '1', mode }, null, this.metadata());
    await new ActivatePolicyVersionHandler(this.streams, this.runner).execute(activation);
    return policy;
  }

  async setConnector(status: ConnectorStatus): Promise<void> {
    await this.updateConnector({ status });
  }

  /** As another process does it: this one's folds still stand where they stood. */
  async changeElsewhere(changes: JsonObject): Promise<void> {
    const streams = new FoldedStreams(this.store);
    const { state } = await streams.load(streamRef(connectorDecider, connectorStreamId(this.org, 'crm')));
    const config = { ...(state as LiveConnector).config, ...changes };
    const checked = { config, configHash: digestOfJson(config) };
    await this.updateConnector({ config: checked }, new CommandRunner(this.store, streams));
  }

  /** The commands in another process. */
  elsewhere(): Pick<GateBench, 'commands'> {
    const runner = new CommandRunner(this.store, new FoldedStreams(this.store));
    return { commands: this.commandsOver(runner, new InProcessBus(silentLogger)) };
  }

  private commandsOver(runner: CommandRunner, bus: Bus): CommandBus {
    const kernel = new AgentKernel(runner, this.issue, random, bus);
    return commandBusOf([...AGENT_HANDLERS, ...ORGANIZATION_HANDLERS].map((Handler) => new Handler(kernel)));
  }

  /** In another process: this one hears of it by the log alone. */
  async storeCredentialElsewhere(name = 'crm'): Promise<void> {
    const runner = new CommandRunner(this.store, new FoldedStreams(this.store));
    const credential = { kind: 'bearer', fields: ['token'], hint: null, version: 'v1' };
    const [id, metadata] = [connectorStreamId(this.org, name), this.metadata()];
    await runner.run(
      connectorDecider,
      id,
      { type: 'PutCredentials', data: { connector: null, credential }, metadata } as never,
      metadata,
    );
  }

  private async updateConnector(changes: object, runner = this.runner): Promise<void> {
    const metadata = this.metadata();
    const data = { connector: null, ...changes };
    const id = connectorStreamId(this.org, 'crm');
    await runner.run(connectorDecider, id, { type: 'UpdateConnector', data, metadata } as never, metadata);
  }

  handler(starter: ExecutionStarter = this.runningStarter()): SubmitActionHandler {
    return new SubmitActionHandler(this.gate, this.ids, this.payloads, this.judge, starter);
  }

  /** Executes in the accepting process, as apps/standalone does. */
  runningStarter(): ManualStarter {
    return new ManualStarter(this.executorId, (accepted) => void this.executor.run(accepted));
  }

  submit(
    request: Partial<ActionRequest>,
    handler = this.handler(),
    metadata = this.metadata(),
    since?: SubmitAction['since'],
  ): Promise<SubmittedAction> {
    const whole: ActionRequest = {
      tool: 'crm.get',
      args: {},
      mode: 'gateway',
      connectorType: null,
      key: this.key,
      livemode: false,
      idempotencyKey: null,
      onBehalfOf: null,
      session: null,
      intent: [],
      trace: null,
      ...request,
    };
    return handler.execute(new SubmitAction(this.org, this.agent, whole, metadata, since));
  }

  /** The action as its stream tells it, once `isEnough`. */
  async action(id: ActionId, isEnough: (action: Action) => boolean = () => true): Promise<Action> {
    const deadline = Date.now() + 20_000;
    for (;;) {
      const { state } = await this.streams.load(streamRef(actionDecider, id));
      if (isEnough(state)) return state;
      if (Date.now() > deadline) throw new Error(`action ${id} is still ${JSON.stringify(state)}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  metadata(now = timestampOf(this.clock.nowMs())): CommandMetadata {
    const commandId = Buffer.from(random.bytes(16)).toString('hex');
    return { org: this.org || null, actor: { type: 'operator', id: null }, requestId: null, commandId, now };
  }

  close(): void {
    this.door.close();
  }
}
