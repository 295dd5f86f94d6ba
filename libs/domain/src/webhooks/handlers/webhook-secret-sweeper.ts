import type { StoredSecret, Vault } from '../../connectors/index.js';
import { categoryOf, type Clock, type FoldedStreams, idInStream, streamRef, timestampOf } from '../../kernel/index.js';
import { organizationDecider } from '../../people/index.js';
import { webhooksDecider } from '../webhook.decider.js';
import { signingAt } from '../webhook.state.js';

/** Rows younger than this may belong to a command under way. */
const MIN_AGE_MS = 3_600_000;

/** Destroys secrets that sign no more: those whose overlap has ended, and leftovers of a crash or a lost race. */
export class WebhookSecretSweeper {
  constructor(
    private readonly streams: FoldedStreams,
    private readonly vault: Vault,
    private readonly clock: Clock,
    private readonly minAgeMs = MIN_AGE_MS,
  ) {}

  /** How many were destroyed. Safe to repeat and to run in several processes at once. */
  async sweep(): Promise<number> {
    let destroyed = 0;
    for await (const secret of this.vault.olderThan(this.minAgeMs)) {
      if (categoryOf(secret.stream) !== webhooksDecider.category || (await this.maySign(secret))) continue;
      await this.vault.destroy(secret);
      destroyed += 1;
    }
    return destroyed;
  }

  private async maySign({ org, stream, object, version }: StoredSecret): Promise<boolean> {
    const now = await this.streams.loadAll({
      org: streamRef(organizationDecider, org),
      webhooks: streamRef(webhooksDecider, idInStream(stream)),
    });
    // A store that does not know the organization is not the one this row was written beside.
    if (now.org.state.status === 'none') return true;
    const endpoint = [...now.webhooks.state.endpoints.values()].find(({ id }) => id === object);
    if (!endpoint) return false;
    return signingAt(endpoint, timestampOf(this.clock.nowMs())).some((secret) => secret.version === version);
  }
}
