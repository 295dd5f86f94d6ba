import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectorStreams, isLive, type LiveConnector, type Vault } from '#libs/domain/connectors';
import type { Clock, Meter } from '#libs/domain/kernel';
import {
  type ChangeLogSource,
  type ChangeLogVerdicts,
  type DecoderAddress,
  type DecoderLog,
  type DecoderRows,
  hasPassed,
  isWitnessed,
  LagGauge,
  openMarkReader,
  type WaitingActions,
  type WitnessLogin,
  witnessTermsOf,
} from '#libs/domain/witness';
import { RepeatedFault } from '#libs/infra/logging';
import type { Attachment } from './attachment.js';
import { DecoderHealth } from './decoder-health.js';
import { LogAttachment } from './log-attachment.js';
import { type RetirementParts, SlotRetirement } from './slot-retirement.js';
import { TransactionIntake } from './transaction-intake.js';
import { WaitingVerdicts } from './waiting-verdicts.js';
import { withLogin } from './witness-credential.js';

/** Times between two tries and two looks. */
export interface DecoderPace {
  /** Between two looks at how far the log is and at what waits for it. */
  readonly lookMs: number;
  /** How long a decoder may be without a connection before somebody is told. */
  readonly graceMs: number;
  readonly firstRetryMs: number;
  readonly lastRetryMs: number;
  /** Between two tries to drop a slot that nobody needs. */
  readonly retireMs: number;
}

const DECODER_PACE: DecoderPace = {
  lookMs: 1_000,
  graceMs: 10_000,
  firstRetryMs: 250,
  lastRetryMs: 15_000,
  retireMs: 60_000,
};

export interface DecoderParts extends RetirementParts {
  readonly vault: Pick<Vault, 'open' | 'markKeyOf'>;
  readonly connectors: Pick<ConnectorStreams, 'load'>;
  readonly source: ChangeLogSource;
  readonly verdicts: ChangeLogVerdicts;
  readonly waiting: WaitingActions;
  readonly log: DecoderLog;
  readonly rows: DecoderRows;
  readonly clock: Clock;
  readonly meter: Meter;
}

interface Looks {
  readonly gauge: LagGauge;
  /** Ends the following that is looked at. */
  readonly ending: AbortController;
}

/** `deleted`: the connector is gone. `unknown`: the log of the service holds nothing of it, and it is none of ours. */
type Found = LiveConnector | 'deleted' | 'unknown';
/** How long to wait before the next step; null: there is none. */
type NextMs = number | null;

/**
 * Follows the change log of one connector for as long as its lease is held and the connector asks for it, and drops the
 * slot when it asks no more. A fault is never the end: it is tried again, with a growing pause.
 */
export class Decoder {
  private readonly waiting: WaitingVerdicts;
  private readonly attachment: LogAttachment;
  private readonly retirement: SlotRetirement;
  private readonly health: DecoderHealth;
  private readonly unfollowed: RepeatedFault;
  private readonly unlooked: RepeatedFault;
  private retryMs: number;
  /** How far this process has read the slot; null before it has. */
  private handled: string | null = null;
  /** Ends what is under way, because the connector may be another one by now. */
  private change = new AbortController();

  constructor(
    private readonly parts: DecoderParts,
    private readonly of: DecoderAddress,
    private readonly pace: DecoderPace = DECODER_PACE,
  ) {
    this.waiting = new WaitingVerdicts(parts.waiting, parts.verdicts, of);
    this.retirement = new SlotRetirement(parts, of);
    this.health = new DecoderHealth(parts, of, pace.graceMs);
    this.attachment = new LogAttachment(parts, this.waiting, this.health, of);
    this.retryMs = pace.firstRetryMs;
    const named = { connector: of.connector };
    this.unfollowed = new RepeatedFault((fault) =>
      parts.logger.warn('a change log could not be followed; it is tried again', { ...named, ...fault }),
    );
    this.unlooked = new RepeatedFault((fault) =>
      parts.logger.warn('how a change log is followed could not be recorded', { ...named, ...fault }),
    );
  }

  /** The connector has changed, or may have. */
  connectorChanged(): void {
    this.change.abort();
  }

  /** Ends when `held` is aborted, or nothing is left to do for the connector. */
  async run(held: AbortSignal): Promise<void> {
    try {
      while (!held.aborted) {
        this.change = new AbortController();
        const signal = AbortSignal.any([held, this.change.signal]);
        const nextMs = await this.step(signal, held);
        if (nextMs === null) return;
        await sleep(nextMs, undefined, { signal }).catch(() => undefined);
      }
    } finally {
      this.parts.meter.decoderStands(this.of.connector, null);
    }
  }

  private async step(signal: AbortSignal, held: AbortSignal): Promise<NextMs> {
    try {
      const connector = await this.find();
      if (connector === 'unknown') return null;
      if (connector === 'deleted') return await this.gone();
      if (!isWitnessed(connector)) return (await this.retirement.retire(connector)) ? null : this.pace.retireMs;
      const nextMs = await this.follow(connector, signal, held);
      this.unfollowed.over();
      return nextMs;
    } catch (error) {
      if (held.aborted) return null;
      this.unfollowed.met(error);
      return this.pausedMs();
    }
  }

  private async find(): Promise<Found> {
    const { state } = await this.parts.connectors.load(this.of.org, this.of.name);
    if (state.status === 'none') return 'unknown';
    return isLive(state) && state.id === this.of.connector ? state : 'deleted';
  }

  private async gone(): Promise<NextMs> {
    await this.retirement.forget();
    return null;
  }

  /** The pause after a failure. What is wrong is told when it lasts. */
  private async pausedMs(): Promise<number> {
    await this.looked(() => this.health.apart());
    const pauseMs = this.retryMs;
    this.retryMs = Math.min(2 * pauseMs, this.pace.lastRetryMs);
    return pauseMs;
  }

  private follow(connector: LiveConnector, signal: AbortSignal, held: AbortSignal): Promise<NextMs> {
    const terms = witnessTermsOf(connector);
    if (terms === null) return Promise.resolve(null);
    return withLogin(this.parts.vault, connector, terms, async (login) => {
      try {
        const attached = await this.attachment.attach(login, await this.handledUpTo());
        if (attached === null) return this.pace.lastRetryMs;
        await this.followAttached(login, attached, signal);
        return await this.pausedMs();
      } finally {
        // While the credential is open: that of a deleted connector is gone by now.
        if (this.change.signal.aborted && !held.aborted) await this.leaveBehind(login);
      }
    });
  }

  private async followAttached(login: WitnessLogin, attached: Attachment, changed: AbortSignal): Promise<void> {
    const { source, vault } = this.parts;
    const ending = new AbortController();
    const signal = AbortSignal.any([changed, ending.signal]);
    const { watchBypass } = login.terms;
    const marks = await openMarkReader(vault, login.connector);
    const intake = new TransactionIntake(this.parts, { of: this.of, marks, watchBypass });
    const gauge = new LagGauge();
    const handle = (position: string): void => {
      gauge.reached(position);
      this.handled = position;
    };
    // Where nothing happens, the database says nothing either.
    handle(attached.confirmed);
    let looking: Promise<void> = Promise.resolve();
    try {
      const end = await source.follow({
        ...login,
        signal,
        onStarted: () => {
          this.health.connected();
          this.retryMs = this.pace.firstRetryMs;
          looking = this.lookAgain(signal, () => this.look(login, attached, { gauge, ending }));
        },
        onTransaction: (transaction) => intake.take(transaction),
        onPosition: handle,
      });
      if (end !== 'aborted') this.parts.logger.debug('a change log ended', { connector: this.of.connector, end });
    } finally {
      ending.abort();
      marks.destroy();
      await looking;
    }
  }

  private async lookAgain(signal: AbortSignal, look: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      await this.looked(look);
      await sleep(this.pace.lookMs, undefined, { signal }).catch(() => undefined);
    }
  }

  private async look(login: WitnessLogin, attached: Attachment, { gauge, ending }: Looks): Promise<void> {
    const position = this.handled;
    const { head } = await this.parts.source.inspect(login);
    // Nothing is missing in a log that says it was read further than it goes. Attaching anew tells what is wrong with it.
    if (position !== null && !hasPassed(head, position)) {
      ending.abort();
      return;
    }
    const nowMs = this.parts.clock.monotonicMs();
    gauge.seen(head, nowMs);
    await this.health.follows(gauge.now(nowMs), position);
    if (position !== null) await this.waiting.readUpTo(position, attached);
  }

  private async handledUpTo(): Promise<string | null> {
    const { connector } = this.of;
    return this.handled ?? (await this.parts.rows.of([connector])).get(connector)?.position ?? null;
  }

  /** What is told of a decoder never keeps it from reading. */
  private async looked(look: () => Promise<void>): Promise<void> {
    try {
      await look();
      this.unlooked.over();
    } catch (error) {
      this.unlooked.met(error);
    }
  }

  /** Drops the slot that was followed where the connector, as it is now, follows none or another one. */
  private async leaveBehind(login: WitnessLogin): Promise<void> {
    const now = await this.find();
    const terms = typeof now === 'string' ? null : witnessTermsOf(now);
    const isWanted = typeof now !== 'string' && isWitnessed(now);
    if (now === 'unknown' || (isWanted && terms?.slot === login.terms.slot && terms.place === login.terms.place))
      return;
    if (await this.retirement.drop(login)) this.handled = null;
  }
}
