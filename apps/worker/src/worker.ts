import { setTimeout as sleep } from 'node:timers/promises';
import {
  ConnectorHealthSweeper,
  CredentialSweeper,
  ToolDefinitionSweeper,
  ToolDiscoverySweeper,
} from '#libs/domain/connectors';
import {
  ActionExecutor,
  DueActionSweeper,
  ExecutionPlaces,
  ExecutionSweeper,
  type GateKernel,
  InlineExecutionStarter,
  PayloadSweeper,
  type DueAction,
  ReservationSweeper,
} from '#libs/domain/gate';
import { MAIL_CHANNEL, type ActionId, type JobConsumer, type Subscription } from '#libs/domain/kernel';
import { WebhookDispatcher } from '#libs/domain/webhooks';
import {
  checkpointsOf,
  type Deployment,
  payloadRetentionOf,
  webhooksOf,
  type WebhookParts,
} from '#libs/infra/deployment';
import type { SealedHeads } from '#libs/domain/ledger';
import { KEPT_AFTER_PERIOD_MS } from '#libs/infra/gate';
import type { LeaseSession } from '#libs/infra/leases';
import type { SealedHeadsFile } from '#libs/infra/ledger';
import { RepeatedFault } from '#libs/infra/logging';
import { ConnectorReads } from '#libs/infra/read-models';
import { PostgresReplayRows, startReplay } from '#libs/infra/replays';
import { DiscoveryLoop } from './connectors/discovery-loop.js';
import { RecoveryLoop } from './gate/recovery-loop.js';
import { SweepLoop, type Swept } from './gate/sweep-loop.js';
import { Housekeeping } from './housekeeping.js';
import { CheckpointLoop } from './ledger/checkpoint-loop.js';
import { RetentionLoop } from './ledger/retention-loop.js';
import { SealingLoop } from './ledger/sealing-loop.js';
import { WitnessLoop } from './ledger/witness-loop.js';
import { MailLoop } from './people/mail-loop.js';
import { DELIVERIES_KEPT_MS } from '#libs/infra/webhooks';
import { ReplayLoop } from './replays/replay-loop.js';
import type { DecoderLoops } from './witness/decoder-loops.js';
import { decodersOf, whySilentBy } from './witness/decoders-of.js';
import { WebhookLoop } from './webhooks/webhook-loop.js';

/** Jobs looked at at once. What is executed at once is for {@link ExecutionPlaces} to say. */
const EXECUTE_CONCURRENCY = 256;

/** For the rows that say how far this process came, when executions took all the time there was. */
const LAST_WRITES_MS = 300;
/** Longer, and the next sweep comes by itself. */
const CATCH_UP_MS = 5_000;

const after = (delayMs: number): Promise<void> => sleep(delayMs, undefined, { ref: false });

/** What a worker process does, started and stopped in order. */
export class Worker {
  readonly executor: ActionExecutor;
  readonly inlineStarter: InlineExecutionStarter;
  private readonly places: ExecutionPlaces;
  private readonly recovery: RecoveryLoop;
  private readonly sweeps: readonly SweepLoop[];
  private readonly housekeeping: Housekeeping;
  private readonly discovery: DiscoveryLoop;
  private readonly mails: MailLoop;
  private readonly replays: ReplayLoop;
  private readonly webhooks: WebhookLoop;
  private readonly decoders: DecoderLoops;
  private readonly stopping = new AbortController();
  private readonly leaving = new AbortController();
  private background: Promise<unknown> = Promise.resolve();
  private present: Promise<void> = Promise.resolve();
  private consumer: JobConsumer | null = null;
  private lastJobs: Promise<void> | undefined;
  private heads: SealedHeadsFile | null = null;

  constructor(private readonly deployment: Deployment) {
    const { executorId, payloads, bus, logger, randomness, liveness, openExecutions, queue, gateSettings } = deployment;
    const { metrics: meter } = deployment;
    const gate = deployment.gateKernel();
    const webhooks = webhooksOf(deployment);
    this.executor = new ActionExecutor(gate, executorId, payloads, bus, logger);
    this.places = new ExecutionPlaces(this.executor, logger);
    const runs = { executor: this.executor, places: this.places };
    this.inlineStarter = new InlineExecutionStarter({ ...runs, queue }, executorId, randomness, logger);
    const sweeper = new ExecutionSweeper(gate, openExecutions, liveness, runs, logger);
    this.housekeeping = new Housekeeping(
      {
        budgets: {
          removeEnded: () => deployment.budgetRows.removeEnded(deployment.clock.nowMs() - KEPT_AFTER_PERIOD_MS),
        },
        connectorHealth: new ConnectorHealthSweeper(deployment.streams, deployment.connectorHealth, deployment.clock),
        credentials: new CredentialSweeper(deployment.streams, deployment.vault),
        idempotency: deployment.idempotency,
        liveness,
        nonces: { removeExpired: () => deployment.nonces.removeExpired(deployment.clock.nowMs()) },
        payloads: new PayloadSweeper(gate.store, deployment.payloadRows, gateSettings.payloadMinAgeMs),
        people: { purge: () => deployment.people.desk.purge(deployment.clock.nowMs()) },
        toolDefinitions: new ToolDefinitionSweeper(deployment.streams, deployment.toolDefinitions),
        webhooks: {
          sweepSecrets: () => webhooks.secrets.sweep(),
          removeEnded: async () => {
            const nowMs = deployment.clock.nowMs();
            await webhooks.deliveries.endStale(nowMs - DELIVERIES_KEPT_MS, nowMs);
            return webhooks.deliveries.removeEnded(nowMs - DELIVERIES_KEPT_MS);
          },
        },
      },
      { logger, meter },
    );
    this.recovery = new RecoveryLoop(executorId, liveness, sweeper, gateSettings, { logger, meter });
    this.sweeps = sweptOf(deployment, gate).map(
      (swept) => new SweepLoop(swept, gateSettings.sweepIntervalMs, { logger, meter }),
    );
    this.discovery = discoveryOf(deployment);
    this.replays = replaysOf(deployment);
    this.webhooks = webhookLoopOf(deployment, webhooks);
    this.decoders = decodersOf(deployment);
    this.mails = new MailLoop(
      {
        clerk: deployment.mailClerk(),
        approvals: deployment.approvalMailClerk(),
        failures: deployment.signInFailures(),
        bus,
        logger,
      },
      gateSettings.sweepIntervalMs,
    );
  }

  async start(): Promise<void> {
    const { leases, logger, presence, queue } = this.deployment;
    const heads = await this.deployment.openSealedHeads();
    this.heads = heads;
    // The first beat comes before anything can be claimed: a claim without one would look like a silent executor's.
    await this.recovery.start();
    const unshown = new RepeatedFault((fault) =>
      logger.error('other processes cannot see that this one lives: the database does not answer', fault),
    );
    this.present = presence.hold(this.leaving.signal, (error) => unshown.met(error));
    for (const sweep of this.sweeps) sweep.start();
    this.housekeeping.start();
    this.mails.start();
    this.replays.start();
    this.webhooks.start();
    this.decoders.start();
    this.consumer = queue.process('execute', EXECUTE_CONCURRENCY, (id) => this.places.takeUp(id as ActionId));
    const hold = (name: string, work: Parameters<typeof leases.hold>[2]): Promise<void> => {
      const waiting = new RepeatedFault((fault) =>
        logger.error('a background task waits for its stores', { lease: name, ...fault }),
      );
      return leases.hold(name, this.stopping.signal, work, (error) => waiting.met(error));
    };
    this.background = Promise.all([
      hold('sealer', (held, session) => this.seal(heads, held, session)),
      hold('open-executions', (held, session) => this.followActions(held, session)),
      hold('retention', (held) => this.goRound(held)),
      hold('webhooks', (held, session) => this.webhooks.follow(held, session)),
    ]);
  }

  /** Claims nothing more, from the queue or of what others have lost. Executions under way and their seals go on. */
  takeUpNothingMore(): void {
    this.recovery.stopSweeping();
    for (const sweep of this.sweeps) sweep.stopSweeping();
    this.discovery.takeUpNothingMore();
    this.replays.takeUpNothingMore();
    this.webhooks.takeUpNothingMore();
    this.decoders.takeUpNothingMore();
    this.places.close();
    this.lastJobs ??= this.consumer?.close();
  }

  /**
   * Lets executions under way end, then seals what they recorded. What has not ended by then is left for recovery, as
   * after a crash: the sweeper of another process, or of the next start, ends or repeats it.
   * @returns how many executions had not ended
   */
  async stop(graceMs: number): Promise<number> {
    this.takeUpNothingMore();
    const grace = after(graceMs);
    await Promise.race([Promise.all([this.lastJobs, this.executor.idle()]), grace]);
    const left = this.executor.underWayCount;
    this.stopping.abort();
    const loops = [this.housekeeping, this.recovery, ...this.sweeps, this.mails, this.replays, this.webhooks];
    // Until here decoders brought the verdicts of what was under way.
    const ended = Promise.all([this.background, this.decoders.stop(), ...loops.map((loop) => loop.stop())]);
    await Promise.race([ended, grace.then(() => after(LAST_WRITES_MS))]);
    // Last: what this process sends is its own until then.
    this.leaving.abort();
    await Promise.race([this.present, after(LAST_WRITES_MS)]);
    await this.heads?.close();
    return left;
  }

  private seal(heads: SealedHeads, held: AbortSignal, session: LeaseSession): Promise<void> {
    const { database, clock, logger, metrics: meter, gateSettings } = this.deployment;
    const loop = new SealingLoop({
      store: database.store,
      appends: database.appends,
      sealer: this.deployment.sealer(heads),
      sealKeys: this.deployment.sealKeys(),
      progress: this.deployment.sealerProgressOver(session),
      clock,
      logger,
      meter,
      retryIntervalMs: gateSettings.sweepIntervalMs,
    });
    return loop.run(held);
  }

  /** What one worker at a time does slowly. A lease for each would cost every worker one more session. */
  private async goRound(held: AbortSignal): Promise<void> {
    await Promise.all([this.removeBodies(held), this.discovery.run(held), this.signTrees(held)]);
  }

  /** And has them cosigned. */
  private async signTrees(held: AbortSignal): Promise<void> {
    const { database, directory, clock, randomness, logger, metrics: meter } = this.deployment;
    const { maker, asking, watch } = checkpointsOf(this.deployment);
    const organizations = () => directory.organizations();
    const { store } = database;
    const trees = new CheckpointLoop({ maker, store, organizations, clock, randomness, logger });
    const witnesses = new WitnessLoop({ asking, watch, store, organizations, logger, meter });
    await Promise.all([trees.run(held), witnesses.run(held)]);
  }

  private removeBodies(held: AbortSignal): Promise<void> {
    const { directory, logger } = this.deployment;
    const organizations = () => directory.organizations();
    return new RetentionLoop({ retention: payloadRetentionOf(this.deployment), organizations, logger }).run(held);
  }

  /** Open executions are known up to where the log stood when this was asked. */
  private async caughtUp(): Promise<void> {
    const { database, openExecutions } = this.deployment;
    await openExecutions.reach(await database.store.head(), CATCH_UP_MS);
  }

  /** What is under way, what comes due, and what budgets hold: their rows are this process's to write. */
  private async followActions(held: AbortSignal, session: LeaseSession): Promise<void> {
    const { openExecutions, dueActions, budgetRows, bus, logger } = this.deployment;
    const unfollowed = new RepeatedFault((fault) => logger.error('open executions could not be followed', fault));
    const undue = new RepeatedFault((fault) => logger.error('what comes due could not be followed', fault));
    const unsettled = new RepeatedFault((fault) => logger.error('budgets could not be settled', fault));
    const followed: Subscription[] = [];
    try {
      followed.push(await openExecutions.follow(session, (error) => unfollowed.met(error)));
      // Whoever rang right after the append would be ahead of the rows by which its mail is owed.
      const ring = (due: readonly DueAction[]): void => {
        if (due.some(({ kind }) => kind === 'approval')) bus.publish(MAIL_CHANNEL, '');
      };
      followed.push(await dueActions.follow(session, (error) => undue.met(error), ring));
      followed.push(await budgetRows.follow(session, (error) => unsettled.met(error)));
      // What was claimed last before a crash stands in the log alone until then.
      this.caughtUp().then(
        () => this.recovery.sweepSoon(),
        (error: unknown) => {
          if (!held.aborted) unfollowed.met(error);
        },
      );
      await new Promise<void>((resolve) => {
        if (held.aborted) resolve();
        held.addEventListener('abort', () => resolve(), { once: true });
      });
    } finally {
      await Promise.all(followed.map((subscription) => subscription.close()));
    }
  }
}

/** What ends or is let go by itself when its time comes. */
const sweptOf = (deployment: Deployment, gate: GateKernel): readonly Swept[] => {
  const { dueActions, budgetRows, bus, logger } = deployment;
  const due = new DueActionSweeper(gate, dueActions, bus, logger, whySilentBy(deployment));
  const reservations = new ReservationSweeper(gate, budgetRows, logger);
  return [
    { name: 'approval_expiry', fault: 'a sweep of what is due failed', sweep: (signal) => due.sweep(signal) },
    { name: 'budget_reservations', fault: 'a sweep of reservations failed', sweep: () => reservations.sweep() },
  ];
};

const discoveryOf = ({ streams, database, drivers: registry, clock, logger }: Deployment): DiscoveryLoop => {
  const connectors = new ConnectorReads(database.readModels);
  return new DiscoveryLoop(new ToolDiscoverySweeper(streams, connectors, { registry, clock, logger }), logger);
};

const replaysOf = ({ config, database, logger, metrics: meter }: Deployment): ReplayLoop => {
  const { connectionString } = database;
  const rows = new PostgresReplayRows(database.durable);
  return new ReplayLoop({ rows, start: (id) => startReplay({ config, connectionString }, id), logger, meter });
};

const webhookLoopOf = (deployment: Deployment, { fold, sender, deliveries, lost }: WebhookParts): WebhookLoop => {
  const { queue, bus, clock, logger, gateSettings } = deployment;
  const unsent = new RepeatedFault((fault) =>
    logger.error('webhook deliveries could not be taken up or recorded', fault),
  );
  const dispatcher = new WebhookDispatcher(sender, deliveries, unsent);
  return new WebhookLoop(
    { fold, dispatcher, deliveries, lost, queue, bus, clock, logger },
    gateSettings.sweepIntervalMs,
  );
};
