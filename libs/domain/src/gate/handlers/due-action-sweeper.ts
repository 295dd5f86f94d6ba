import {
  actionChannel,
  type Bus,
  isStoreAway,
  streamRef,
  SYSTEM,
  timestampOf,
  type ActionId,
  type Logger,
} from '../../kernel/index.js';
import type { ActionCommand } from '../action.commands.js';
import { actionDecider } from '../action.decider.js';
import type { DueAction, DueKind } from '../due-action.process.js';
import type { DueActions } from '../due-actions.port.js';
import type { GateKernel } from '../gate-kernel.js';
import { isLiving } from './execution.js';
import { newClaim } from './execution-starter.js';

/** Actions that are ended beside each other. */
const PAGE_SIZE = 100;

export interface DueSweepResult {
  readonly due: number;
  readonly ended: number;
}

/**
 * Ends what nobody has decided or reported in time (rule GATE-6). By the time of day, which the terms were written in:
 * a clock that jumps ahead ends sooner what would have ended anyway. Several sweepers may work at once, and against a
 * yes or a report that comes late: the store lets one of them win. An action that cannot be read or moved is named in
 * the log and holds up none of the others.
 */
export class DueActionSweeper {
  /** Actions that could not be ended. Each is named in the log once, until it is over. */
  private failed: ReadonlySet<ActionId> = new Set();

  constructor(
    private readonly gate: GateKernel,
    private readonly dueActions: DueActions,
    private readonly bus: Bus,
    private readonly logger: Logger,
  ) {}

  /**
   * @param signal ends it after the page at hand
   * @throws {StoreUnavailable} nothing can be ended at the moment
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

  /** @returns how many it ended itself */
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
    // A row of a log that was lost.
    if (!isLiving(folded.state)) return false;
    const { org } = folded.state.submission;
    const now = timestampOf(this.gate.clock.nowMs());
    // Nobody else's: what two sweepers do in one millisecond is never taken for one command, of which each thinks it was its own.
    const commandId = `${kind}-due:${newClaim('', this.gate.randomness).claim}`;
    const metadata = { org, actor: SYSTEM, requestId: null, commandId, correlation: id, now };
    const command: ActionCommand = { type: ENDS[kind], data: {}, metadata };
    const { events } = await this.gate.runner.run(actionDecider, id, command, metadata, { known: folded });
    if (events.length > 0) this.bus.publish(actionChannel(id), 'recorded');
    return events.length > 0;
  }
}

const ENDS = { approval: 'ExpireApproval', edge: 'GiveUpEdge' } as const satisfies Readonly<
  Record<DueKind, ActionCommand['type']>
>;
