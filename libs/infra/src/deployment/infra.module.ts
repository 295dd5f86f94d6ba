import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { AgentKernel, Authenticate, KeyDirectory } from '#libs/domain/agents';
import {
  ConnectorHealth,
  ConnectorSettings,
  ConnectorStreams,
  ConnectorTests,
  EgressPolicy,
  RunningExecutions,
  ToolDefinitions,
  ToolDiscovery,
  Vault,
} from '#libs/domain/connectors';
import { DecoderRows } from '#libs/domain/witness';
import {
  ApprovalLinks,
  ConnectorRegistry,
  ExecutionStarter,
  BudgetReservations,
  AdmissionKernel,
  GateKernel,
  IdempotentIds,
  PolicyJudge,
} from '#libs/domain/gate';
import {
  Bus,
  Clock,
  CommandRunner,
  EventStore,
  FoldedStreams,
  JobQueue,
  Logger,
  PayloadStore,
  Randomness,
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
  WitnessAsking,
  WitnessPolicies,
  WitnessStandings,
  WitnessWatch,
} from '#libs/domain/ledger';
import {
  Members,
  PasskeyRows,
  Passkeys,
  PasskeySignIn,
  PasskeyVerifier,
  PeopleDirectory,
  PersonSessions,
  SignIn,
} from '#libs/domain/people';
import { Replays } from '#libs/domain/replays';
import { WebhookDeliveries, WebhookEndpoints } from '#libs/domain/webhooks';
import { LoggedRunningExecutions } from '../gate/index.js';
import { IdempotencyStore } from '../idempotency/index.js';
import {
  LocalProjections,
  ProjectionProgress,
  ProjectionWaiter,
  PublicEventReads,
  ReadModels,
} from '../read-models/index.js';
import { checkpointsOf } from './checkpoints.js';
import { Deployment } from './deployment.js';
import { passkeysOf } from './passkeys-of.js';
import { replaysOf } from './replays.js';
import { retentionReachOf } from './retention.js';
import { webhooksOf } from './webhooks.js';

/** Every port of the domain, bound to this deployment's adapters. Global: contexts name ports, never adapters. */
@Module({})
export class InfraModule {
  /** @param starter how an accepted execution begins: in this process, or with a worker */
  static forRoot(deployment: Deployment, starter: ExecutionStarter): DynamicModule {
    const providers = [...portsOf(deployment), ...readModelsOf(deployment), value(ExecutionStarter, starter)];
    return { module: InfraModule, global: true, providers, exports: providers };
  }
}

const value = <Token>(token: abstract new (...parts: never[]) => Token, useValue: Token): Provider => ({
  provide: token,
  useValue,
});

const portsOf = (deployment: Deployment): Provider[] => {
  const { store, seen } = deployment.database;
  const webhooks = webhooksOf(deployment);
  const gate = deployment.gateKernel();
  const { passkeys, passkeySignIn, verifier } = passkeysOf(deployment);
  return [
    value(EventStore, store),
    value(SeenHeads, seen),
    value(FoldedStreams, deployment.streams),
    value(CommandRunner, deployment.runner),
    value(Clock, deployment.clock),
    value(Randomness, deployment.randomness),
    value(Bus, deployment.bus),
    value(JobQueue, deployment.queue),
    value(Logger, deployment.logger),
    value(PayloadStore, deployment.payloads),
    value(LedgerTails, deployment.tails),
    value(RetentionReach, retentionReachOf(deployment)),
    value(Vault, deployment.vault),
    value(EgressPolicy, deployment.egress),
    value(ConnectorRegistry, deployment.drivers),
    ...connectorsOf(deployment, gate),
    value(RunningExecutions, new LoggedRunningExecutions(deployment.openExecutions, store)),
    value(AdmissionKernel, gate),
    value(GateKernel, gate),
    value(BudgetReservations, deployment.budgets),
    value(IdempotentIds, deployment.ids),
    value(PolicyJudge, deployment.policyJudge()),
    value(Authenticate, deployment.authenticate()),
    value(KeyDirectory, deployment.directory),
    value(AgentKernel, deployment.agentKernel()),
    value(SealKeyAdministration, deployment.sealKeys()),
    ...checkpointPortsOf(deployment),
    value(IdempotencyStore, deployment.idempotency),
    value(PeopleDirectory, deployment.people.directory),
    value(ApprovalLinks, deployment.people.links),
    value(Members, deployment.members()),
    value(PersonSessions, deployment.personSessions()),
    value(SignIn, deployment.signIn()),
    value(PasskeyRows, deployment.people.passkeys),
    value(Passkeys, passkeys),
    value(PasskeySignIn, passkeySignIn),
    value(PasskeyVerifier, verifier),
    value(Replays, replaysOf(deployment)),
    value(WebhookEndpoints, webhooks.endpoints),
    value(WebhookDeliveries, webhooks.asked),
  ];
};

const checkpointPortsOf = (deployment: Deployment): Provider[] => {
  const { keys, journal, trees, broken, maker, policies, standings, asking, watch } = checkpointsOf(deployment);
  return [
    value(CheckpointSigningKeys, keys),
    value(CheckpointJournal, journal),
    value(LedgerTrees, trees),
    value(BrokenLedgers, broken),
    value(CheckpointMaker, maker),
    value(WitnessPolicies, policies),
    value(WitnessStandings, standings),
    value(WitnessAsking, asking),
    value(WitnessWatch, watch),
  ];
};

const connectorsOf = (deployment: Deployment, { breakers }: GateKernel): Provider[] => {
  const {
    connectors: streams,
    connectorHealth,
    toolDefinitions,
    vault,
    egress,
    drivers: registry,
    clock,
    logger,
  } = deployment;
  const settings = new ConnectorSettings(
    deployment.config.env === 'production',
    (type, config) => registry.driverOf(type)?.configFault(config) ?? null,
  );
  return [
    value(ConnectorSettings, settings),
    value(ConnectorStreams, streams),
    value(ConnectorHealth, connectorHealth),
    value(DecoderRows, deployment.decoderRows),
    value(ToolDefinitions, toolDefinitions),
    value(ToolDiscovery, new ToolDiscovery(streams, connectorHealth, { registry, clock, logger })),
    value(
      ConnectorTests,
      new ConnectorTests(streams, connectorHealth, { vault, egress, registry, settings, clock, breakers }),
    ),
  ];
};

const readModelsOf = ({ database, localProjections, projectionProgress }: Deployment): Provider[] => [
  value(LocalProjections, localProjections),
  value(ProjectionProgress, projectionProgress),
  value(ProjectionWaiter, new ProjectionWaiter(database.store, projectionProgress)),
  value(ReadModels, new ReadModels(database.readModels)),
  value(PublicEventReads, new PublicEventReads(database.readModels)),
];
