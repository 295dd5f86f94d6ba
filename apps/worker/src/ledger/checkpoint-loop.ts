import { setTimeout as sleep } from 'node:timers/promises';
import { encodeHex } from '#libs/crypto';
import {
  type Clock,
  type CommandMetadata,
  type EventStore,
  idInStream,
  type Logger,
  type OrgId,
  type Randomness,
  streamOf,
  SYSTEM,
  timestampOf,
} from '#libs/domain/kernel';
import { type CheckpointMaker, LedgerInconsistent } from '#libs/domain/ledger';
import { RepeatedFault } from '#libs/infra/logging';

/** The pause before a round, and so before the first one: what was signed last stays good that long. */
const INTERVAL_MS = 60_000;
/** Ledgers whose heads are asked for at once. */
const HEADS_AT_ONCE = 500;

export interface CheckpointLoopParts {
  readonly maker: Pick<CheckpointMaker, 'make'>;
  readonly store: Pick<EventStore, 'heads'>;
  /** All organizations that may have a ledger. */
  readonly organizations: () => Promise<readonly OrgId[]>;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly logger: Logger;
}

/**
 * Signs the root of every ledger whose head has moved, at intervals, as long as the process holds the lease. No call and no
 * seal waits for it. Two that run at once sign one root a size, too: the log lets one of them.
 */
export class CheckpointLoop {
  /** The heads for which nothing more is to be done. */
  private readonly done = new Map<string, number>();
  private readonly unsigned: RepeatedFault;

  constructor(
    private readonly parts: CheckpointLoopParts,
    private readonly intervalMs = INTERVAL_MS,
  ) {
    this.unsigned = new RepeatedFault((fault) =>
      parts.logger.warn('checkpoints could not be made; the next round goes on', fault),
    );
  }

  /** Runs until `held` is aborted, and ends after the organization under way. */
  async run(held: AbortSignal): Promise<void> {
    for (;;) {
      await sleep(this.intervalMs, undefined, { signal: held }).catch((error: unknown) => {
        if (!held.aborted) throw error;
      });
      if (held.aborted) return;
      await this.round(held);
    }
  }

  /** Looks at every organization once. */
  async round(held: AbortSignal): Promise<void> {
    let isWhole = true;
    try {
      const organizations = await this.parts.organizations();
      for (let first = 0; first < organizations.length; first += HEADS_AT_ONCE) {
        const ledgers = organizations.slice(first, first + HEADS_AT_ONCE).map((org) => streamOf('ledger', org));
        for (const [ledger, head] of await this.parts.store.heads(ledgers)) {
          if (held.aborted) return;
          if (this.done.get(ledger) !== head) isWhole = (await this.make(ledger, head)) && isWhole;
        }
      }
      if (isWhole) this.unsigned.over();
    } catch (error) {
      this.unsigned.met(error);
    }
  }

  /**
   * What is wrong with one ledger is its own organization's matter, and holds nobody up.
   * @returns false where the next round is to try again
   */
  private async make(ledger: string, head: number): Promise<boolean> {
    const org = idInStream(ledger) as OrgId;
    try {
      await this.parts.maker.make(org, this.metadata(org));
    } catch (error) {
      if (!(error instanceof LedgerInconsistent)) {
        this.unsigned.met(error);
        return false;
      }
      const message = 'nothing is signed for a ledger that does not continue what was signed';
      this.parts.logger.error(message, { org_id: org, error });
    }
    this.done.set(ledger, head);
    return true;
  }

  private metadata(org: OrgId): CommandMetadata {
    const { clock, randomness } = this.parts;
    const commandId = encodeHex(randomness.bytes(16));
    return { org, actor: SYSTEM, requestId: null, commandId, now: timestampOf(clock.nowMs()) };
  }
}
