import { categoryOf, type FoldedStreams, idInStream, streamRef } from '../kernel/index.js';
import { organizationDecider } from '../people/index.js';
import { connectorDecider } from './connector.decider.js';
import { isLive } from './connector.state.js';
import type { StoredSecret, Vault } from './vault.port.js';

/** Rows younger than this may belong to a command under way (docs/architecture.md, Rows beside the log). */
const MIN_AGE_MS = 3_600_000;

/** Destroys credentials that no event names any more: replaced ones, and leftovers of a crash or a lost race. */
export class CredentialSweeper {
  constructor(
    private readonly streams: FoldedStreams,
    private readonly vault: Vault,
    private readonly minAgeMs = MIN_AGE_MS,
  ) {}

  /** How many were destroyed. Safe to repeat and to run in several processes at once. */
  async sweep(): Promise<number> {
    let destroyed = 0;
    for await (const secret of this.vault.olderThan(this.minAgeMs)) {
      if (categoryOf(secret.stream) !== connectorDecider.category || (await this.mayBeNamed(secret))) continue;
      await this.vault.destroy(secret);
      destroyed += 1;
    }
    return destroyed;
  }

  private async mayBeNamed({ org, stream, object, version }: StoredSecret): Promise<boolean> {
    const now = await this.streams.loadAll({
      org: streamRef(organizationDecider, org),
      connector: streamRef(connectorDecider, idInStream(stream)),
    });
    // A store that does not know the organization is not the one this row was written beside.
    if (now.org.state.status === 'none') return true;
    const { state } = now.connector;
    return isLive(state) && state.id === object && state.credential?.version === version;
  }
}
