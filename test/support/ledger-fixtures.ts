import { SigningKey } from '#libs/crypto';
import type { ActionEvent } from '#libs/domain/gate';
import {
  appendEvents,
  CommandRunner,
  FoldedStreams,
  idOf,
  ONLY_STREAM,
  type Bus,
  type Clock,
  type CommandMetadata,
  type EventStore,
  type OrgId,
  type RecordedEvent,
  START,
  streamOf,
} from '#libs/domain/kernel';
import {
  proofOf,
  sealKeyDecider,
  SealKeyRing,
  Sealer,
  SealedHeads,
  SealerProgress,
  type LowWater,
  type SealedHead,
  type ParkedOrg,
} from '#libs/domain/ledger';
import { InProcessBus, SystemRandomness } from '#libs/infra/runtime';
import { AGENT, decided, denied, running, submitted, succeeded } from './gate-fixtures.js';
import { metadataAt, NOW } from './given.js';
import { type LogProfile, profileOf } from './log-profile.js';
import { silentLogger } from './silent-logger.js';
import { actionDecider } from '#libs/domain/gate';

/** A clock that stands still until it is set. */
export class SetClock implements Clock {
  constructor(public ms = Date.parse(NOW)) {}
  nowMs(): number {
    return this.ms;
  }
  monotonicMs(): number {
    return this.ms;
  }
}

/** Seal keys in memory: what a vault would open. */
export class HeldSealKeys extends SealKeyRing {
  private readonly keys = new Map<string, SigningKey>();

  override store(key: SigningKey): Promise<void> {
    this.keys.set(key.publicKey.kid, key);
    return Promise.resolve();
  }

  override open(kid: string): Promise<SigningKey> {
    const key = this.keys.get(kid);
    return key ? Promise.resolve(key) : Promise.reject(new Error('no such key'));
  }
}

/** The sealer's rows in memory. */
export class HeldProgress extends SealerProgress {
  low: LowWater | null = null;
  readonly rows = new Map<OrgId, ParkedOrg>();

  override lowWater = (): Promise<LowWater | null> => Promise.resolve(this.low);
  override parked = (): Promise<readonly ParkedOrg[]> => Promise.resolve([...this.rows.values()]);
  override setLowWater(low: LowWater): Promise<void> {
    this.low = low;
    return Promise.resolve();
  }
  override park(parked: ParkedOrg): Promise<void> {
    this.rows.set(parked.org, parked);
    return Promise.resolve();
  }
  override unpark(org: OrgId): Promise<void> {
    this.rows.delete(org);
    return Promise.resolve();
  }
}

/** What is remembered outside of a log. */
class HeldHeads extends SealedHeads {
  readonly rows = new Map<OrgId, SealedHead>();

  override of = (org: OrgId): Promise<SealedHead | null> => Promise.resolve(this.rows.get(org) ?? null);
  override all = (): Promise<readonly SealedHead[]> => Promise.resolve([...this.rows.values()]);
  override remember(head: SealedHead): Promise<void> {
    this.rows.set(head.org, head);
    return Promise.resolve();
  }
}

const random = new SystemRandomness();

export const newOrg = (): OrgId => idOf('org', random.bytes(16));

/** A log with what a sealer needs around it. */
export class LedgerBench {
  readonly clock = new SetClock();
  readonly bus: Bus = new InProcessBus(silentLogger);
  readonly streams: FoldedStreams;
  readonly runner: CommandRunner;

  constructor(
    readonly store: EventStore,
    readonly keys = new HeldSealKeys(),
    readonly heads = new HeldHeads(),
    readonly profile: LogProfile = profileOf(store),
  ) {
    this.streams = new FoldedStreams(store);
    this.runner = new CommandRunner(store, this.streams);
  }

  sealer(): Sealer {
    // Streams of its own: another sealer is another process.
    const { store, keys: keyRing, heads, clock, bus } = this;
    const { appends, keysInForce } = this.profile;
    return new Sealer({
      store,
      appends,
      keysInForce: keysInForce(new FoldedStreams(store)),
      keyRing,
      heads,
      clock,
      bus,
    });
  }

  /** A seal key that is active from now on. */
  async activateKey(now = NOW): Promise<SigningKey> {
    const key = SigningKey.generate();
    await this.keys.store(key);
    const { kid, text: publicKey } = key.publicKey;
    for (const command of [
      { type: 'RegisterSealKey' as const, data: { kid, publicKey } },
      { type: 'ProveSealKey' as const, data: { kid, signature: proofOf(key) } },
      { type: 'ActivateSealKey' as const, data: { kid, overlapMs: 60_000, sealedUntil: null } },
    ]) {
      const metadata = { ...metadataAt(now), org: null, commandId: `${command.type}:${kid}` };
      await this.runner.run(sealKeyDecider, ONLY_STREAM, { ...command, metadata }, metadata);
    }
    return key;
  }

  /** An action of the organization that is refused, or one that ran. Returns its stream. */
  async recordAction(org: OrgId, kind: 'refused' | 'executed' = 'refused', agent = AGENT): Promise<string> {
    if (kind === 'refused') return (await this.record(org, [submitted, decided(denied)], agent)).stream;
    const { stream, events, metadata } = await this.record(org, running, agent);
    await this.finish(stream, events, metadata);
    return stream;
  }

  /** An action of the organization with these events, in one append. */
  async record(
    org: OrgId,
    base: readonly ActionEvent[],
    agent = AGENT,
  ): Promise<{ stream: string; events: readonly ActionEvent[]; metadata: CommandMetadata }> {
    const action = idOf('act', random.bytes(16));
    const events = base.map(
      (event) =>
        ({
          ...event,
          data: { ...event.data, action, ...(event.type === 'ActionSubmitted' ? { org, agent } : {}) },
        }) as ActionEvent,
    );
    const stream = streamOf('action', action);
    const metadata: CommandMetadata = { ...metadataAt(), org, actor: { type: 'agent', id: agent }, commandId: action };
    await appendEvents(this.store, stream, 'no_stream', events, metadata);
    return { stream, events, metadata };
  }

  private async finish(stream: string, events: readonly ActionEvent[], metadata: CommandMetadata): Promise<void> {
    const state = events.reduce(actionDecider.evolve, actionDecider.initialState());
    const command = {
      type: 'RecordOutcome' as const,
      data: { claim: 'c1', outcome: succeeded, withdrawn: null },
      metadata,
    };
    await appendEvents(this.store, stream, events.length - 1, actionDecider.decide(command, state), metadata);
  }

  /** The whole log, in order. */
  async log(): Promise<readonly RecordedEvent[]> {
    const events: RecordedEvent[] = [];
    for (;;) {
      const page = await this.store.readAll(events.at(-1)?.position ?? START, 1_000);
      if (page.length === 0) return events;
      events.push(...page);
    }
  }

  /** What a sealer does with a stretch of the log. */
  async feed(sealer: Sealer, events: readonly RecordedEvent[]): Promise<void> {
    for (const [org, { requests }] of await sealer.workIn(events)) await sealer.seal(org, requests);
  }

  async ledgerOf(org: OrgId): Promise<readonly RecordedEvent[]> {
    return this.store.readStream(streamOf('ledger', org));
  }
}
