import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectorState, type ConnectorStreams, isLive, type ListedConnectors } from '#libs/domain/connectors';
import { type Bus, type ConnectorId, type Logger, PUBLIC_EVENTS_CHANNEL } from '#libs/domain/kernel';
import { type ChangeLogSource, type DecoderAddress, type DecoderRows, isWitnessed } from '#libs/domain/witness';
import type { PostgresLeases } from '#libs/infra/leases';
import { RepeatedFault } from '#libs/infra/logging';
import type { Decoder } from './decoder.js';

export interface DecoderLoopsParts {
  readonly listed: ListedConnectors;
  readonly connectors: Pick<ConnectorStreams, 'load'>;
  readonly rows: Pick<DecoderRows, 'all'>;
  readonly leases: Pick<PostgresLeases, 'hold'>;
  readonly bus: Bus;
  readonly source: Pick<ChangeLogSource, 'close'>;
  readonly logger: Logger;
}

export interface LookPace {
  /** Between two looks where nobody rings. */
  readonly lookMs: number;
  /** However often somebody does. */
  readonly restMs: number;
}

const LOOK_PACE: LookPace = { lookMs: 2_000, restMs: 500 };

/** The connector of a decoder, and what would make it another one. */
interface Wanted {
  readonly of: DecoderAddress;
  readonly facts: string;
}

interface Term {
  facts: string;
  /** The one that runs while this process holds the lease. */
  decoder: Decoder | null;
  readonly ended: AbortController;
  readonly running: Promise<void>;
}

/**
 * A decoder for each connector that asks for a witness, and for each that may have left a slot. Every worker waits for the
 * lease of each of them, so one process follows a log at a time and another takes over.
 */
export class DecoderLoops {
  private readonly terms = new Map<ConnectorId, Term>();
  private readonly looking = new AbortController();
  private readonly stopping = new AbortController();
  private readonly unseen: RepeatedFault;
  private bell = new AbortController();
  private looks: Promise<void> = Promise.resolve();

  /** @param decoderOf a new one for each time that its lease is taken */
  constructor(
    private readonly parts: DecoderLoopsParts,
    private readonly decoderOf: (of: DecoderAddress) => Decoder,
    private readonly pace: LookPace = LOOK_PACE,
  ) {
    this.unseen = new RepeatedFault((fault) =>
      parts.logger.error('connectors with a witness could not be looked for', fault),
    );
  }

  start(): void {
    const leave = this.parts.bus.subscribe(PUBLIC_EVENTS_CHANNEL, () => this.bell.abort());
    this.looks = this.lookAgain().finally(leave);
  }

  /** Follows no other log than those that are followed. */
  takeUpNothingMore(): void {
    this.looking.abort();
  }

  /** What is about to be recorded is waited for. Everything else is sent again to whoever follows next. */
  async stop(): Promise<void> {
    this.takeUpNothingMore();
    this.stopping.abort();
    this.parts.source.close();
    await this.looks;
    await Promise.all([...this.terms.values()].map(({ running }) => running));
  }

  private async lookAgain(): Promise<void> {
    const { signal } = this.looking;
    while (!signal.aborted) {
      this.bell = new AbortController();
      try {
        await this.look();
        this.unseen.over();
      } catch (error) {
        this.unseen.met(error);
      }
      await sleep(this.pace.restMs, undefined, { signal }).catch(() => undefined);
      const woken = AbortSignal.any([signal, this.bell.signal]);
      await sleep(this.pace.lookMs, undefined, { signal: woken }).catch(() => undefined);
    }
  }

  private async look(): Promise<void> {
    const wanted = await this.wanted();
    if (this.looking.signal.aborted) return;
    for (const one of wanted.values()) {
      const term = this.terms.get(one.of.connector);
      if (term === undefined) this.begin(one);
      else if (term.facts !== one.facts) this.changed(term, one.facts);
    }
    for (const [connector, term] of this.terms) {
      if (wanted.has(connector)) continue;
      this.changed(term, 'gone');
      // Whoever holds the lease has work to do; whoever waits for it has none.
      if (term.decoder === null) term.ended.abort();
    }
  }

  private async wanted(): Promise<ReadonlyMap<ConnectorId, Wanted>> {
    const wanted = new Map<ConnectorId, Wanted>();
    for await (const page of this.parts.listed.active(['database'])) {
      for (const { org, name } of page) {
        const { state } = await this.parts.connectors.load(org, name);
        if (!isLive(state) || !isWitnessed(state)) continue;
        wanted.set(state.id, { of: { org, connector: state.id, name }, facts: factsOf(state) });
      }
    }
    for await (const of of this.parts.rows.all()) {
      if (wanted.has(of.connector)) continue;
      const { state } = await this.parts.connectors.load(of.org, of.name);
      if (state.status !== 'none') wanted.set(of.connector, { of, facts: factsOf(state) });
    }
    return wanted;
  }

  private changed(term: Term, facts: string): void {
    if (term.facts === facts) return;
    term.facts = facts;
    term.decoder?.connectorChanged();
  }

  private begin({ of, facts }: Wanted): void {
    const ended = new AbortController();
    const signal = AbortSignal.any([this.stopping.signal, ended.signal]);
    const lease = `decoder ${of.connector}`;
    const waiting = new RepeatedFault((fault) =>
      this.parts.logger.error('a background task waits for its stores', { lease, ...fault }),
    );
    const work = async (held: AbortSignal): Promise<void> => {
      const decoder = this.decoderOf(of);
      term.decoder = decoder;
      try {
        await decoder.run(held);
      } finally {
        term.decoder = null;
      }
      if (!held.aborted) ended.abort();
    };
    const running = this.parts.leases
      .hold(lease, signal, work, (error) => waiting.met(error))
      .finally(() => this.terms.delete(of.connector));
    const term: Term = { facts, decoder: null, ended, running };
    this.terms.set(of.connector, term);
  }
}

/** A change of anything else, such as the description, ends no reading. */
const factsOf = (state: ConnectorState): string =>
  isLive(state) ? [state.id, state.status, state.configHash, state.credential?.version ?? ''].join(' ') : state.status;
