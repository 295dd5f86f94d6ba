import type { StatementSaid } from '../../connectors/index.js';
import { type ErrorCode, type Folded, isStoreAway, type Logger, timestampOf } from '../../kernel/index.js';
import {
  type Action,
  actionDecider,
  executorMetadata,
  type ExecutionAttempt,
  type LivingAction,
} from '../action/index.js';
import type { GateKernel } from '../kernel/index.js';

/**
 * What one attempt puts on record before it changes anything. Whoever has to find out what became of a lost attempt asks
 * the system by it, and an attempt that has put nothing on record has changed nothing (docs/adr/0033).
 */
export class AttemptProgress {
  #folded: Folded<Action>;

  /** @param claimed the action as the claim left it */
  constructor(
    private readonly gate: GateKernel,
    private readonly logger: Logger,
    private readonly attempt: ExecutionAttempt,
    claimed: Folded<Action>,
  ) {
    this.#folded = claimed;
  }

  /** The action as this attempt left it, so that the outcome is appended without another read. */
  get folded(): Folded<Action> {
    return this.#folded;
  }

  /** A code means that it is not certainly on record, or that the claim is lost: nothing may be changed then. */
  async record(said: StatementSaid): Promise<ErrorCode | null> {
    const { action: id, claim } = this.attempt;
    const now = timestampOf(this.gate.clock.nowMs());
    // With the transaction's id, so that a second statement is never taken for a repetition of the first.
    const metadata = executorMetadata(this.#folded.state as LivingAction, `progress:${claim}:${said.xid}`, now);
    const command = { type: 'RecordProgress' as const, data: { claim, said }, metadata };
    try {
      const { folded } = await this.gate.runner.run(actionDecider, id, command, metadata, { known: this.#folded });
      this.#folded = folded;
      return null;
    } catch (error) {
      const message = isStoreAway(error)
        ? 'the store is away, and nothing is changed without progress on record'
        : 'progress could not be recorded, and nothing is changed';
      this.logger.warn(message, { action_id: id, error });
      return 'service_unavailable';
    }
  }
}
