import {
  actionChannel,
  type Bus,
  isStoreAway,
  streamRef,
  SYSTEM,
  timestampOf,
  type ActionId,
  type ConnectorId,
  type Logger,
} from '../../kernel/index.js';
import { type ActionCommand, actionDecider, isLiving, type SilenceReason } from '../action/index.js';
import type { DueAction, DueKind } from './due-action.process.js';
import type { DueActions } from './due-actions.port.js';
import type { GateKernel } from '../kernel/index.js';
import { newClaim } from '../sending/index.js';

/** How many actions are read and ended in parallel. */
const PAGE_SIZE = 100;

export interface DueSweepResult {
  readonly due: number;
  readonly ended: number;
}

/** Why the change log of a connector has not spoken in time: what is known of its reader, or no more than `timeout`. */
export type WhySilent = (connector: ConnectorId | null) => Promise<SilenceReason>;

/**
 * Ends actions that were not decided, reported or witnessed in time (rule GATE-6). It compares their deadlines with the time of
 * day, in which they were set; a clock that jumps ahead only ends actions early that would expire anyway, and what a
 * change log says later amends the witness. Several
 * sweepers may run at once, and race with a late decision or report: the expected revision lets one of them win. An
 * action that fails is logged and does not hold up the others.
 */
export class DueActionSweeper {
  /** Actions that the last sweep could not end. Each is logged once, until it succeeds or is gone. */
  private failed: ReadonlySet<ActionId> = new Set();

  constructor(
    private readonly gate: GateKernel,
    private readonly dueActions: DueActions,
    private readonly bus: Bus,
    private readonly logger: Logger,
    private readonly whySilent: WhySilent = () => Promise.resolve('timeout'),
  ) {}

  /**
   * @param signal ends the sweep after the current page
   * @throws {StoreUnavailable} if nothing can be ended, because the store is unavailable
   */
  async sweep(signal?: AbortSignal): Promise<DueSweepResult> {
    const now = timestampOf(this.gate.clock.nowMs());
    const failed = new Set<ActionId>();
    let [due, ended] = [0, 0];
    let after: DueAction | null = null;
    for (;;) {
      const page: readonly DueAction[] = await this.dueActions.dueBy(now, after, PAGE_SIZE);
      ended += await this.endPage(page, failed);
      due += page.length;
      after = page.at(-1) ?? null;
      if (page.length < PAGE_SIZE || signal?.aborted) break;
    }
    this.failed = failed;
    return { due, ended };
  }

  /** @returns how many actions this sweeper ended itself */
  private async endPage(page: readonly DueAction[], failed: Set<ActionId>): Promise<number> {
    const results = await Promise.all(
      page.map(async (due) => {
        try {
          return { due, isEnded: await this.end(due), error: null };
        } catch (error) {
          return { due, isEnded: false, error };
        }
      }),
    );
    const away = results.filter(({ error }) => isStoreAway(error));
    if (away[0] && away.length === page.length) throw away[0].error;
    for (const { due, error } of results) {
      if (error === null) continue;
      failed.add(due.action);
      if (this.failed.has(due.action)) continue;
      this.logger.error('an action whose time is over could not be ended', { action_id: due.action, error });
    }
    return results.filter(({ isEnded }) => isEnded).length;
  }

  private async end({ action: id, kind }: DueAction): Promise<boolean> {
    const folded = await this.gate.streams.load(streamRef(actionDecider, id));
    // The row is left over from a log that was lost (restored to an earlier state).
    if (!isLiving(folded.state)) return false;
    const { org, connector } = folded.state.submission;
    const now = timestampOf(this.gate.clock.nowMs());
    // A random command id, because two sweepers may run in the same millisecond: with equal ids the second append would
    // count as a repetition of the first, and both would report the action as ended by them.
    const commandId = `${kind}-due:${newClaim('', this.gate.randomness).claim}`;
    const metadata = { org, actor: SYSTEM, requestId: null, commandId, correlation: id, now };
    const ending =
      kind === 'witness'
        ? { type: 'GiveUpWitness' as const, data: { reason: await this.whySilent(connector) } }
        : ENDS[kind];
    const command: ActionCommand = { ...ending, metadata };
    const { events } = await this.gate.runner.run(actionDecider, id, command, metadata, { known: folded });
    if (events.length > 0) this.bus.publish(actionChannel(id), 'recorded');
    return events.length > 0;
  }
}

const ENDS = {
  approval: { type: 'ExpireApproval', data: {} },
  edge: { type: 'GiveUpEdge', data: {} },
} as const satisfies Readonly<Record<Exclude<DueKind, 'witness'>, Pick<ActionCommand, 'type' | 'data'>>>;
