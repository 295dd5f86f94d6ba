import { type Clock, type FoldedStreams, streamRef } from '../kernel/index.js';
import { organizationDecider } from '../people/index.js';
import { connectorDecider } from './connector.decider.js';
import type { ConnectorHealth } from './connector-health.port.js';
import { connectorStreamId, isLive } from './connector.state.js';
import type { TestedPlace } from './connector-test.js';

/** A younger row may belong to a test under way, which looks after it itself. */
const MIN_AGE_MS = 3_600_000;

/** Removes results of connectors that are gone: what a crash between a deletion and its row leaves. */
export class ConnectorHealthSweeper {
  constructor(
    private readonly streams: FoldedStreams,
    private readonly health: ConnectorHealth,
    private readonly clock: Clock,
  ) {}

  /** How many were removed. Safe to repeat and to run in several processes at once. */
  async sweep(): Promise<number> {
    let removed = 0;
    for await (const place of this.health.testedBefore(this.clock.nowMs() - MIN_AGE_MS)) {
      if (await this.mayLive(place)) continue;
      await this.health.forget(place.connector);
      removed += 1;
    }
    return removed;
  }

  private async mayLive({ org, name, connector }: TestedPlace): Promise<boolean> {
    const now = await this.streams.loadAll({
      org: streamRef(organizationDecider, org),
      connector: streamRef(connectorDecider, connectorStreamId(org, name)),
    });
    // A store that does not know the organization is not the one this row was written beside.
    if (now.org.state.status === 'none') return true;
    const { state } = now.connector;
    return isLive(state) && state.id === connector;
  }
}
