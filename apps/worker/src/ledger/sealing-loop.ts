import { setTimeout as sleep } from 'node:timers/promises';
import {
  decodeEvent,
  DomainError,
  isStoreAway,
  START,
  StoreUnavailable,
  SYSTEM,
  timestampOf,
  type Clock,
  type Companions,
  type CompoundAppends,
  type DepartingAppends,
  type EventEnvelope,
  type EventStore,
  type Logger,
  type Meter,
  type OrgId,
  type Position,
  type RecordedEvent,
  type Subscription,
} from '#libs/domain/kernel';
import {
  NoActiveSealKey,
  LedgerWentBack,
  revocationWork,
  SEAL_KEYS_STREAM,
  standingLowWater,
  type ParkedOrg,
  type SealKeyAdministration,
  type SealKeyEvent,
  type Sealer,
  type SealerProgress,
  type SealWork,
} from '#libs/domain/ledger';
import { RepeatedFault } from '#libs/infra/logging';

/** How often the low-water row is written while the sealer is at work. The row only makes a restart faster. */
const LOW_WATER_INTERVAL_MS = 1_000;
const CATCH_UP_PAGE = 1_000;

export interface SealingParts {
  readonly store: EventStore;
  readonly appends: Pick<CompoundAppends, 'accompany'>;
  readonly sealer: Sealer;
  readonly sealKeys: SealKeyAdministration;
  readonly progress: SealerProgress;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly retryIntervalMs: number;
}

/**
 * The one active sealer (rule DEED-6). It follows `$all` and treats organizations as independent queues: one whose
 * ledger is stuck is parked, so that the others go on. If no key is active or the store is away, all organizations
 * wait, and sealing is tried again.
 */
export class SealingLoop {
  private storeId = '';
  /**
   * The parked organizations as this sealer has read or written their rows. The rows are not read again: if this
   * process was frozen and another sealer took over, the rows of that sealer are not for this one to delete.
   */
  private parked = new Map<OrgId, ParkedOrg>();
  private readonly parkedFaults = new Map<OrgId, RepeatedFault>();
  private lastLowWaterMs = 0;
  private savedUpTo: Position | null = null;
  private turn: Promise<unknown> = Promise.resolve();
  private turnsWaiting = 0;
  private lastEvent: RecordedEvent | null = null;
  /** Every event up to here is sealed, or its organization is parked. */
  private doneUpTo: Position = START;

  constructor(private readonly parts: SealingParts) {}

  /** Seals until `held` is aborted: at a shutdown, or because another process took the lease. */
  async run(held: AbortSignal): Promise<void> {
    const { store, appends, progress, logger, meter } = this.parts;
    this.storeId = await store.storeId();
    this.parked = new Map((await progress.parked()).map((row) => [row.org, row]));
    await this.provePending();
    this.doneUpTo = await this.startPosition();
    const leave = appends.accompany(
      (departing) => this.accompany(departing),
      // The event is then recorded alone, and the same error is met and handled when it is sealed.
      (error) => logger.warn('a deed could not be sealed along with its event', { error }),
    );
    held.addEventListener('abort', leave, { once: true });
    const waiting = new RepeatedFault((fault) => logger.error('sealing waits', fault));
    const untried = new RepeatedFault((fault) => logger.error('what waits could not be tried again', fault));
    const subscription = store.subscribeToAll({
      after: this.doneUpTo,
      onEvents: async (events) => {
        await this.inTurn(() => this.sealBatch(events));
        waiting.over();
      },
      onError: (error) => waiting.met(error),
    });
    const looked = this.lookAtLedgers(held).catch((error: unknown) =>
      logger.error('where ledgers end could not be compared with what is remembered', { error }),
    );
    const retry = setInterval(() => {
      this.inTurn(() => this.retry(subscription, held)).then(
        () => {
          meter.sweepEnded('unsealed', 'done');
          untried.over();
        },
        (error: unknown) => {
          meter.sweepEnded('unsealed', 'error');
          untried.met(error);
        },
      );
    }, this.parts.retryIntervalMs);
    await new Promise<void>((resolve) => {
      if (held.aborted) resolve();
      held.addEventListener('abort', () => resolve(), { once: true });
    });
    clearInterval(retry);
    leave();
    await subscription.close();
    await looked;
    await this.turn.catch(() => undefined);
    if (this.lastEvent) await this.saveLowWater(this.lastEvent);
  }

  /** Runs work one after the other, so that batches and retries of parked organizations never overlap. */
  private inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    this.turnsWaiting += 1;
    const next = this.turn.then(work, work).finally(() => (this.turnsWaiting -= 1));
    this.turn = next.catch(() => undefined);
    return next;
  }

  /**
   * Adds companions only while nothing is being sealed; otherwise the same deed could be signed twice, once for
   * nothing.
   */
  private accompany(departing: DepartingAppends): Companions | null {
    if (this.turnsWaiting > 0) return null;
    return this.parts.sealer.accompany(departing, this.doneUpTo, (org) => !this.parked.has(org));
  }

  /**
   * Compares all ledgers with the remembered heads, even those without new events: a ledger that lacks deeds is parked,
   * and the head of one that has grown is remembered anew. Sealing does not wait for this, because it compares each
   * ledger by itself when it reads its end. A machine that has not sealed for long finds every ledger grown.
   */
  private async lookAtLedgers(held: AbortSignal): Promise<void> {
    let grown: readonly OrgId[] = [];
    await this.untilAnswered(held, async () => {
      const { shorter, longer } = await this.parts.sealer.compareLengths();
      for (const fault of shorter) await this.inTurn(() => this.parkLost(fault));
      grown = longer;
    });
    for (const org of grown) await this.untilAnswered(held, () => this.lookAt(org));
  }

  private async lookAt(org: OrgId): Promise<void> {
    try {
      await this.parts.sealer.rememberAnew(org);
    } catch (error) {
      if (isStoreAway(error)) throw error;
      // Any other ledger that cannot be read is reported when something is sealed in it.
      if (error instanceof LedgerWentBack) await this.inTurn(() => this.parkLost(error));
    }
  }

  /** Repeats `ask` as long as the store is away. */
  private async untilAnswered(held: AbortSignal, ask: () => Promise<void>): Promise<void> {
    while (!held.aborted) {
      try {
        return await ask();
      } catch (error) {
        if (!isStoreAway(error)) throw error;
      }
      await sleep(this.parts.retryIntervalMs, undefined, { signal: held }).catch(() => undefined);
    }
  }

  private async parkLost(fault: LedgerWentBack): Promise<void> {
    if (!this.parked.has(fault.org)) await this.park(fault.org, fault);
  }

  private async startPosition(): Promise<Position> {
    const standing = await standingLowWater(this.parts.store, await this.parts.progress.lowWater());
    if (standing !== null) return standing;
    const head = await this.parts.store.head();
    if (head > START) this.parts.logger.info('reading the whole log for what is not sealed', { head: String(head) });
    return START;
  }

  private async sealBatch(events: readonly RecordedEvent[]): Promise<void> {
    await this.walk(events, null, (org, work) => this.sealOrPark(org, work));
    this.lastEvent = events[events.length - 1] as RecordedEvent;
    this.doneUpTo = this.lastEvent.position;
    if (this.parts.clock.monotonicMs() - this.lastLowWaterMs >= LOW_WATER_INTERVAL_MS) {
      await this.saveLowWater(this.lastEvent);
    }
  }

  /** Passes the work that the events ask for to `seal`, in order, for one organization or for all. */
  private async walk(
    events: readonly RecordedEvent[],
    only: OrgId | null,
    seal: (org: OrgId, work: SealWork) => Promise<void>,
  ): Promise<void> {
    const sealAll = async (stretch: readonly RecordedEvent[]): Promise<void> => {
      const works = await this.parts.sealer.workIn(stretch, only);
      await Promise.all([...works].map(([org, work]) => seal(org, work)));
    };
    let begin = 0;
    for (let index = 0; index < events.length; index += 1) {
      const recorded = events[index] as RecordedEvent;
      if (recorded.stream !== SEAL_KEYS_STREAM) continue;
      // Events that were recorded before a change of keys are sealed before it (rule DEED-9).
      await sealAll(events.slice(begin, index));
      begin = index;
      for (const [org, work] of await this.workOf(decodeEvent<SealKeyEvent>(recorded))) {
        if (only === null || org === only) await seal(org, work);
      }
    }
    await sealAll(events.slice(begin));
  }

  private async sealOrPark(org: OrgId, work: SealWork): Promise<void> {
    if (this.parked.has(org)) return;
    try {
      await this.seal(org, work);
    } catch (error) {
      if (holdsEverybody(error)) throw error;
      await this.park(org, error);
    }
  }

  /** Seals all requests, then throws the fault of the work, if there is one. */
  private async seal(org: OrgId, { requests, fault }: SealWork): Promise<void> {
    await this.parts.sealer.seal(org, requests);
    if (fault !== null) throw fault;
  }

  private async park(org: OrgId, error: unknown): Promise<void> {
    this.parts.logger.error('an organization cannot be sealed and is parked', { org_id: org, error });
    const since = timestampOf(this.parts.clock.nowMs());
    const reason = error instanceof Error ? error.message : 'unknown';
    const row = { org, storeId: this.storeId, after: this.doneUpTo, since, reason };
    await this.parts.progress.park(row);
    this.parked.set(org, row);
  }

  /**
   * While no key is active, the current batch waits, and the registration of the next key is behind it in the log. So
   * new keys are also looked for here; otherwise the wait would never end.
   */
  private async retry(subscription: Subscription, held: AbortSignal): Promise<void> {
    await this.provePending();
    await this.retryParked(subscription, held);
    // While no new events come, no batch writes the low-water, so it is written here. Otherwise a program that watches
    // it would take the last batch for unsealed.
    if (this.lastEvent !== null && this.lastEvent.position !== this.savedUpTo) await this.saveLowWater(this.lastEvent);
  }

  /** Seals each parked organization from its first unsealed event up to the position of the subscription. */
  private async retryParked(subscription: Subscription, held: AbortSignal): Promise<void> {
    for (const parked of this.parked.values()) {
      if (held.aborted) return;
      let after = parked.storeId === this.storeId ? parked.after : START;
      this.parts.sealer.forget(parked.org);
      try {
        // Checked even if there is nothing to seal, because then no append would detect a ledger that lacks deeds.
        await this.parts.sealer.requireWhole(parked.org);
        while (after < subscription.position) {
          const page = await this.parts.store.readAll(after, CATCH_UP_PAGE);
          const last = page.at(-1);
          if (!last) break;
          await this.walk(page, parked.org, (org, work) => this.seal(org, work));
          after = last.position;
        }
        await this.parts.progress.unpark(parked.org);
        this.parked.delete(parked.org);
        this.parkedFaults.delete(parked.org);
        this.parts.logger.info('a parked organization is sealed again', { org_id: parked.org });
      } catch (error) {
        this.parkedFault(parked.org).met(error);
      }
    }
  }

  private parkedFault(org: OrgId): RepeatedFault {
    const { logger } = this.parts;
    const fault =
      this.parkedFaults.get(org) ??
      new RepeatedFault((met) => logger.warn('an organization stays parked', { org_id: org, ...met }));
    this.parkedFaults.set(org, fault);
    return fault;
  }

  /**
   * The work that an event of the seal keys causes in the organizations' ledgers. A newly registered key is proved
   * here, too.
   */
  private async workOf(envelope: EventEnvelope<SealKeyEvent>): Promise<ReadonlyMap<OrgId, SealWork>> {
    const { event } = envelope;
    if (event.type === 'SealKeyRegistered') await this.prove(event.data.kid);
    if (event.type !== 'SealKeyRevoked') return new Map();
    const revoked = envelope as EventEnvelope<Extract<SealKeyEvent, { type: 'SealKeyRevoked' }>>;
    const keys = await this.parts.sealKeys.list();
    const activatedAt = keys.find(({ kid }) => kid === event.data.kid)?.activatedAt ?? null;
    return activatedAt === null ? new Map() : revocationWork(this.parts.store, revoked, activatedAt);
  }

  private async provePending(): Promise<void> {
    for (const key of await this.parts.sealKeys.list()) if (!key.provenAt && !key.revokedAt) await this.prove(key.kid);
  }

  /** Signs a proof with a new key, without which the key cannot be activated. */
  private async prove(kid: string): Promise<void> {
    const now = timestampOf(this.parts.clock.nowMs());
    try {
      const metadata = { org: null, actor: SYSTEM, requestId: null, commandId: `prove:${kid}`, now };
      await this.parts.sealKeys.prove(kid, metadata);
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      this.parts.logger.error('a new seal key could not be proven', { kid, error });
    }
  }

  private async saveLowWater({ stream, revision, id, position }: RecordedEvent): Promise<void> {
    this.lastLowWaterMs = this.parts.clock.monotonicMs();
    const event = { stream, revision, event_id: id };
    await this.parts.progress.setLowWater({ storeId: this.storeId, position, event });
    this.savedUpTo = position;
  }
}

const holdsEverybody = (error: unknown): boolean =>
  error instanceof NoActiveSealKey ||
  isStoreAway(error) ||
  (error instanceof DomainError && error.code === 'vault_unavailable');
