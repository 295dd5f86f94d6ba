import { streamRef, SYSTEM, timestampOf, type ActionId, type Logger } from '../../kernel/index.js';
import { actionDecider } from '../action.decider.js';
import type { BudgetRows } from '../budget-reservations.port.js';
import type { GateKernel } from '../gate-kernel.js';

/** A submission whose append has not come by then was left behind by a crash. */
const LEFT_BEHIND_AFTER_MS = 60_000;
/** Actions that are looked at in one sweep. The next one takes the next. */
const PAGE_SIZE = 100;
/** Longer, and the next sweep looks again. */
const REACH_MS = 5_000;

/**
 * Lets go what submissions have reserved that never came to be recorded. First each of their ids is closed where it is still
 * open, so that an append that is only slow fails; then the rows hear all that the log says; what it has not confirmed by
 * then, it never will. Several sweepers may work at once.
 */
export class ReservationSweeper {
  constructor(
    private readonly gate: GateKernel,
    private readonly rows: BudgetRows,
    private readonly logger: Logger,
  ) {}

  /**
   * @returns how many rows were let go
   * @throws {StoreUnavailable} nothing can be swept at the moment
   */
  async sweep(): Promise<number> {
    const { clock, store } = this.gate;
    const reservedUpToMs = clock.nowMs() - LEFT_BEHIND_AFTER_MS;
    const left = await this.rows.unconfirmed(reservedUpToMs, PAGE_SIZE);
    if (left.length === 0) return 0;
    for (const action of left) await this.close(action);
    if (!(await this.rows.reach(await store.head(), REACH_MS))) return 0;
    const freed = await this.rows.freeUnconfirmed(left, reservedUpToMs);
    if (freed > 0) this.logger.info('reservations of budgets that nothing came of were freed', { rows: freed });
    return freed;
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
