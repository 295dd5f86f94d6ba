import { encodeHex } from '#libs/crypto';

import {
  type Clock,
  type CommandRunner,
  type ConnectorId,
  DomainError,
  type ExpectedRevision,
  failpoint,
  type FoldedStreams,
  type Randomness,
  SYSTEM,
  timestampOf,
} from '../kernel/index.js';
import { connectorDecider } from './connector.decider.js';
import { connectorStreamId, type LiveConnector } from './connector.state.js';
import type { TrippedBreaker } from './tripped-breaker.js';

interface Trip {
  readonly connector: LiveConnector;
  readonly breaker: TrippedBreaker;
}

interface Sources {
  readonly runner: CommandRunner;
  readonly streams: FoldedStreams;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

/**
 * Disables connectors, and remembers in this process which: from the moment that one is tripped, and not only from its
 * event on, nothing more is sent for it. A person enables it again.
 */
export class ConnectorBreakers {
  /** The revision from which on the stream says so; Infinity while nobody knows whether it does. */
  private readonly tripped = new Map<ConnectorId, number>();
  /** What tripped those of which nobody knows whether the stream says so. */
  private readonly unsettled = new Map<ConnectorId, Trip>();

  constructor(private readonly sources: Sources) {}

  /** Whether nothing may be sent for a connector as it was at that revision of its stream. */
  isTripped({ id }: Pick<LiveConnector, 'id'>, revision: ExpectedRevision): boolean {
    const since = this.tripped.get(id);
    return since !== undefined && !(typeof revision === 'number' && revision >= since);
  }

  /**
   * Writes nothing where the connector is disabled or gone by now: two processes that see the same make one deed.
   * @throws {StoreUnavailable} it may or may not be disabled, and {@link settle} says so later
   */
  async trip(connector: LiveConnector, breaker: TrippedBreaker): Promise<void> {
    const { runner, clock, randomness } = this.sources;
    const { org, name, id } = connector;
    const { reason, upstreamRequestId } = breaker;
    this.tripped.set(id, Infinity);
    this.unsettled.set(id, { connector, breaker });
    await failpoint('con.breaker');
    const metadata = {
      org,
      actor: SYSTEM,
      requestId: null,
      commandId: `breaker:${encodeHex(randomness.bytes(16))}`,
      now: timestampOf(clock.nowMs()),
    };
    const data = { connector: id, reason, upstreamRequestId };
    const command = { type: 'DisableConnector' as const, data, metadata };
    try {
      const { folded } = await runner.run(connectorDecider, connectorStreamId(org, name), command, metadata);
      this.tripped.set(id, folded.revision as number);
      this.unsettled.delete(id);
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'not_found') throw error;
      this.tripped.delete(id);
      this.unsettled.delete(id);
    }
  }

  /**
   * Trips a connector again whose stream could not be written when it was tripped: without that nobody would see why its
   * calls fail, and no other process would hold them back. Nothing where there is none.
   * @throws {StoreUnavailable} as {@link trip}
   */
  async settle({ id }: Pick<LiveConnector, 'id'>): Promise<void> {
    const trip = this.unsettled.get(id);
    if (trip !== undefined) await this.trip(trip.connector, trip.breaker);
  }
}
