import type { JsonObject } from '#libs/crypto';
import { type Logger, type Randomness, type ActionId, type Folded } from '../../kernel/index.js';
import type { Claimant } from '../action.commands.js';
import type { Action } from '../action.state.js';
import type { ActionExecutor } from './action-executor.js';
import { ExecutionStarter, newClaim } from './execution-starter.js';

/** Executes in the accepting process: accept and claim are one append, and the arguments are at hand. */
export class InlineExecutionStarter extends ExecutionStarter {
  constructor(
    private readonly executor: ActionExecutor,
    private readonly executorId: string,
    private readonly randomness: Randomness,
    private readonly logger: Logger,
  ) {
    super();
  }

  override claimant(): Claimant {
    return newClaim(this.executorId, this.randomness);
  }

  override withdraw({ claim }: Claimant): void {
    this.executor.withdraw(claim);
  }

  override start(
    action: ActionId,
    accepted: Folded<Action>,
    _claimant: Claimant | null,
    args: JsonObject,
  ): Promise<void> {
    this.executor.run(action, accepted, args).catch((error: unknown) => {
      // The claim stays in the log: the sweeper ends it honestly.
      this.logger.error('an execution could not be recorded', { action_id: action, error });
    });
    return Promise.resolve();
  }
}
