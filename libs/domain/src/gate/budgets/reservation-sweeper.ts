import { isStoreAway, streamRef, SYSTEM, timestampOf, type ActionId, type Logger } from '../../kernel/index.js';
import { actionDecider } from '../action/index.js';
import type { BudgetRows } from './budget-reservations.port.js';
import { LEFT_BEHIND_AFTER_MS, type GateKernel } from '../kernel/index.js';

/** How many actions one sweep looks at. The next sweep takes the next ones. */
const PAGE_SIZE = 100;
/** How long a sweep waits for the rows to catch up with the log. If that takes longer, the next sweep tries again. */
const REACH_MS = 5_000;

/**
 * Frees the reservations of submissions that were never recorded. First it closes each action id that has no events, so
 * that a slow append under it fails. Then it waits until the rows reflect the whole log. A reservation that is still
 * not confirmed then never will be, so it is freed. Several sweepers may run at once. An action that cannot be closed keeps
 * its reservation, is logged and does not hold up the others.
 */
export class ReservationSweeper {
  /** Actions that the last sweep could not close. Each is logged once, until it succeeds or is gone. */
  private failed: ReadonlySet<ActionId> = new Set();

  constructor(
    private readonly gate: GateKernel,
    private readonly rows: BudgetRows,
    private readonly logger: Logger,
  ) {}

  /**
   * @returns the number of rows freed
   * @throws {StoreUnavailable} if nothing can be swept now
   */
  async sweep(): Promise<number> {
    const { clock, store } = this.gate;
    const reservedUpToMs = clock.nowMs() - LEFT_BEHIND_AFTER_MS;
    const left = await this.rows.unconfirmed(reservedUpToMs, PAGE_SIZE);
    if (left.length === 0) return 0;
    const closed = await this.closedOf(left);
    if (!(await this.rows.reach(await store.head(), REACH_MS))) return 0;
    const freed = await this.rows.freeUnconfirmed(closed, reservedUpToMs);
    if (freed > 0) this.logger.info('reservations of budgets that nothing came of were freed', { rows: freed });
    return freed;
  }

  private async closedOf(left: readonly ActionId[]): Promise<readonly ActionId[]> {
    const failed = new Set<ActionId>();
    for (const action of left) {
      try {
        await this.close(action);
      } catch (error) {
        if (isStoreAway(error)) throw error;
        failed.add(action);
        if (!this.failed.has(action))
          this.logger.error('a reservation of a budget could not be looked at', { action_id: action, error });
      }
    }
    this.failed = failed;
    return left.filter((action) => !failed.has(action));
  }

  private async close(action: ActionId): Promise<void> {
    const folded = await this.gate.streams.load(streamRef(actionDecider, action));
    if (folded.state.state !== 'none') return;
    const now = timestampOf(this.gate.clock.nowMs());
    const about = { org: null, actor: SYSTEM, requestId: null, commandId: `abandon:${action}`, now };
    const metadata = { ...about, correlation: action };
    const command = { type: 'AbandonSubmission' as const, data: { action }, metadata };
    await this.gate.runner.run(actionDecider, action, command, metadata, { known: folded });
  }
}
