import type { CommandBus } from '@nestjs/cqrs';
import { PUBLIC_EVENT_TYPES } from '#libs/domain/events';
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { EgressPolicy, Vault } from '#libs/domain/connectors';
import {
  CommandRunner,
  FoldedStreams,
  type EventId,
  NO_METER,
  type OrgId,
  placeFailpoints,
  type WebhookId,
} from '#libs/domain/kernel';
import { organizationDecider } from '#libs/domain/people';
import {
  CreateWebhook,
  type Delivery,
  type DescribedWebhook,
  LostClaims,
  signatureHeader,
  type Webhook,
  WEBHOOK_HANDLERS,
  WebhookDeliveries,
  WebhookDispatcher,
  WebhookEndpoints,
  webhooksDecider,
  WebhookSender,
  WebhookSettings,
} from '#libs/domain/webhooks';
import { commandBusOf } from '#libs/infra/commands';
import { EgressDoor, type EgressSettings, type Resolve } from '#libs/infra/egress';
import { PostgresEventStore } from '#libs/infra/event-store';
import { type HeldLease, PostgresLeases } from '#libs/infra/leases';
import { InProcessBus, SystemRandomness } from '#libs/infra/runtime';
import { PostgresVault, VaultCipher } from '#libs/infra/vault';
import { EgressWebhookDoor, PostgresDeliveries, testEvent, WebhookFold } from '#libs/infra/webhooks';
import { publicEventsProjection } from '../../apps/projector/src/events/public-events.projection.js';
import { collectingLogger } from './collecting-logger.js';
import { followLog } from './follow-log.js';
import { testId } from './given-log.js';
import { metadataAt } from './given.js';
import { SetClock } from './ledger-fixtures.js';
import { httpAnswer, type RawAnswer, type RawRequest, type RawUpstream, startRawUpstream } from './raw-upstream.js';
import { createTestReadModels, type TestReadModels } from './read-models.js';
import { silentLogger } from './silent-logger.js';

export const HOOK_ORG: OrgId = testId('org', 1);

export const ok: RawAnswer = () => httpAnswer(204, '', { Connection: 'close' });
export const refused: RawAnswer = () => httpAnswer(500, 'no', { Connection: 'close' });

/** Reaches what a test serves, by any name. */
export const OPEN: EgressSettings = { allowPrivate: true, allowPlainText: true, allow: [], ownEndpoints: () => [] };

export interface SceneOptions {
  readonly settings?: Partial<WebhookSettings>;
  readonly egress?: EgressSettings;
  readonly resolve?: Resolve;
  readonly authorities?: readonly string[];
}

/** What one process has of webhooks; another one has the same rows and nothing of its memory. */
export interface WebhookProcess {
  readonly streams: FoldedStreams;
  readonly deliveries: PostgresDeliveries;
  readonly sender: WebhookSender;
  readonly dispatcher: WebhookDispatcher;
  readonly lost: LostClaims;
  readonly fold: WebhookFold;
  readonly commands: CommandBus;
  readonly endpoints: WebhookEndpoints;
  readonly asked: WebhookDeliveries;
  readonly faults: unknown[];
}

/** Webhooks over a real database, a real door and a real receiver; only time stands still until a test moves it. */
export class WebhookScene {
  readonly clock = new SetClock();
  readonly bus = new InProcessBus(silentLogger);
  readonly logger = collectingLogger();
  readonly vault: Vault;
  /** Answers as `answer` says at that moment. */
  answer: RawAnswer = ok;
  private commands = 0;
  private isStopped = false;

  private constructor(
    readonly readModels: TestReadModels,
    readonly store: PostgresEventStore,
    readonly pool: pg.Pool,
    private readonly options: SceneOptions,
    private lease: HeldLease | null = null,
  ) {
    this.vault = new PostgresVault(pool, new VaultCipher(randomBytes(32), new SystemRandomness()));
  }

  receiver!: RawUpstream;

  static async start(options: SceneOptions = {}): Promise<WebhookScene> {
    const readModels = await createTestReadModels();
    const { connectionString } = readModels;
    const store = new PostgresEventStore({
      connectionString,
      applicationName: 'ags tests',
      onConnectionLost: () => undefined,
    });
    const scene = new WebhookScene(readModels, store, new pg.Pool({ connectionString, max: 4 }), options);
    scene.receiver = await startRawUpstream((request) => scene.answer(request));
    await scene.command('CreateOrganization', {
      org: HOOK_ORG,
      name: 'Test',
      timezone: 'UTC',
      owner: testId('usr', 1),
      membership: testId('mem', 1),
    });
    scene.lease = await new PostgresLeases(connectionString).tryTake('webhooks');
    return scene;
  }

  async close(): Promise<void> {
    placeFailpoints(null);
    await this.lease?.release();
    await this.receiver.close();
    await this.pool.end();
    await this.store.close();
    await this.readModels.drop();
  }

  get session() {
    if (this.lease === null) throw new Error('the scene has not started');
    return this.lease.session;
  }

  get url(): string {
    return `http://127.0.0.1:${this.receiver.port}/hooks`;
  }

  /** Another process, as after a crash. @param claimer what its claims are signed with */
  process(claimer: string | null = null): WebhookProcess {
    const { clock, vault, logger, bus, options, store } = this;
    const settings = new WebhookSettings({ isProduction: false, ...options.settings });
    const streams = new FoldedStreams(store);
    const runner = new CommandRunner(store, streams);
    const deliveries = new PostgresDeliveries(this.pool);
    const egress = new EgressDoor({
      settings: options.egress ?? OPEN,
      ...(options.resolve === undefined ? {} : { resolve: options.resolve }),
      ...(options.authorities === undefined ? {} : { certificateAuthorities: options.authorities }),
    });
    const randomness = new SystemRandomness();
    const door = new EgressWebhookDoor(egress);
    const parts = { deliveries, door, vault, clock, randomness, logger, meter: NO_METER, claimer: () => claimer };
    const sender = new WebhookSender(runner, streams, parts, settings);
    const faults: unknown[] = [];
    const watch = { met: (error: unknown) => void faults.push(error), over: () => undefined };
    const administrated = {
      vault,
      egress: egress as EgressPolicy,
      randomness,
      deliveries,
      eventTypes: PUBLIC_EVENT_TYPES,
    };
    const endpoints = new WebhookEndpoints(runner, streams, administrated, settings);
    return {
      streams,
      deliveries,
      sender,
      dispatcher: new WebhookDispatcher(sender, deliveries, watch),
      lost: new LostClaims(deliveries, clock, claimer ?? 'of no name'),
      fold: new WebhookFold(store, clock),
      commands: commandBusOf(WEBHOOK_HANDLERS.map((Handler) => new Handler(endpoints))),
      endpoints,
      asked: new WebhookDeliveries(endpoints, deliveries, sender, { clock, bus, testEvent }),
      faults,
    };
  }

  /** A new endpoint at the receiver. */
  async endpoint(
    process: WebhookProcess,
    described: Partial<DescribedWebhook> = {},
  ): Promise<{ readonly webhook: Webhook; readonly secret: string }> {
    const asked = { url: this.url, events: ['*'], description: null, ...described };
    const { webhook, secret } = await process.commands.execute(new CreateWebhook(HOOK_ORG, asked, this.metadata()));
    return { webhook, secret: String(secret) };
  }

  metadata() {
    this.commands += 1;
    return { ...metadataAt(new Date(this.clock.ms).toISOString()), org: HOOK_ORG, commandId: `scene ${this.commands}` };
  }

  /** Something happens that one public event tells of; its row is there. */
  async happen(): Promise<EventId> {
    await this.command(this.isStopped ? 'StartOrganization' : 'StopOrganization', { reason: null });
    this.isStopped = !this.isStopped;
    await this.project();
    const { rows } = await this.pool.query<{ evt: EventId }>(
      `select evt from read_models.public_events order by seq desc limit 1`,
    );
    return rows[0]?.evt as EventId;
  }

  project(): Promise<void> {
    return followLog(publicEventsProjection, this.store, this.readModels.projections);
  }

  /** Makes deliveries of all that has happened. @returns to whom something is due */
  async fold({ fold }: WebhookProcess): Promise<readonly WebhookId[]> {
    const told: WebhookId[] = [];
    for (let place = await fold.resume(this.session); ;) {
      const folded = await fold.fold(this.session, place);
      told.push(...folded.webhooks);
      if (folded.place.position === place.position) return told;
      place = folded.place;
    }
  }

  /** Sends what is due now, until nothing is. */
  async send({ deliveries, dispatcher, faults }: WebhookProcess): Promise<void> {
    for (const webhook of await deliveries.dueEndpoints(this.clock.ms, 1_000)) dispatcher.ring(webhook);
    await dispatcher.idle();
    if (faults.length > 0) throw new Error('something could not be taken up or recorded', { cause: faults[0] });
  }

  async deliveriesOf({ deliveries }: WebhookProcess, { id }: Webhook): Promise<readonly Delivery[]> {
    return (await deliveries.page(id, { limit: 1_000, after: null, statuses: null })).rows;
  }

  /** How many events of a type the organization's endpoints have. */
  async recorded(type: string): Promise<number> {
    const events = await this.store.readStream(`${webhooksDecider.category}-${HOOK_ORG}`);
    return events.filter((event) => event.type === type).length;
  }

  private async command(type: string, data: object): Promise<void> {
    const metadata = this.metadata();
    const runner = new CommandRunner(this.store, new FoldedStreams(this.store));
    const command = { type, data, metadata } as unknown as Parameters<typeof organizationDecider.decide>[0];
    await runner.run(organizationDecider, HOOK_ORG, command, metadata);
  }
}

export const headerOf = ({ head }: RawRequest, name: string): string =>
  new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]?.trim() ?? '';

/** What the signature of a request is to be under these secrets. */
export const signatureOf = (request: RawRequest, ...secrets: readonly string[]): string => {
  const seconds = Number(/^t=(\d+),/.exec(headerOf(request, 'Service-Signature'))?.[1]);
  return signatureHeader(
    Buffer.from(request.body),
    seconds,
    secrets.map((secret) => Buffer.from(secret)),
  );
};
