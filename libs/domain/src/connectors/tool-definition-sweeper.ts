import type { Digest } from '#libs/crypto';

import { type FoldedStreams, streamRef } from '../kernel/index.js';
import { organizationDecider } from '../people/index.js';
import { connectorDecider } from './connector.decider.js';
import { connectorStreamId, isLive } from './connector.state.js';
import type { DefinitionsPlace, StoredDefinition, ToolDefinitions } from './tool-definitions.port.js';

/** A younger row may be named by an event that is on its way. */
const MIN_AGE_MS = 3_600_000;

/** Removes definitions that no connector names any more: replaced ones, and leftovers of a crash or of a list that lost. */
export class ToolDefinitionSweeper {
  constructor(
    private readonly streams: FoldedStreams,
    private readonly definitions: Pick<ToolDefinitions, 'olderThan' | 'removeOlder'>,
    private readonly minAgeMs = MIN_AGE_MS,
  ) {}

  /** How many were removed. Safe to repeat and to run in several processes at once. */
  async sweep(): Promise<number> {
    let removed = 0;
    for await (const row of this.definitions.olderThan(this.minAgeMs)) {
      const named = await this.namedBy(row);
      if (named === null || named.has(row.digest)) continue;
      await this.definitions.removeOlder(row, this.minAgeMs);
      removed += 1;
    }
    return removed;
  }

  /** Null where nobody knows. */
  private async namedBy({
    org,
    name,
    connector,
  }: DefinitionsPlace): Promise<ReadonlySet<StoredDefinition['digest']> | null> {
    const now = await this.streams.loadAll({
      org: streamRef(organizationDecider, org),
      connector: streamRef(connectorDecider, connectorStreamId(org, name)),
    });
    // A store that does not know the organization is not the one this row was written beside.
    if (now.org.state.status === 'none') return null;
    const { state } = now.connector;
    if (!isLive(state) || state.id !== connector) return new Set();
    const digests = state.discovered?.tools.flatMap(({ observed, accepted }) => [observed, accepted]) ?? [];
    return new Set(digests.filter((digest): digest is Digest => digest !== null));
  }
}
