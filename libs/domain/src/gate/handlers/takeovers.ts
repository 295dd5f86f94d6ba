import type { ActionId, Logger, OrgId } from '../../kernel/index.js';
import type { ExecutionAttempt } from '../action.state.js';
import type { ActionExecutor } from './action-executor.js';

/** As many as a worker executes of its queue. */
const TAKEOVERS_MAX = 32;
/** Of one organization: upstreams of one that hang leave room for all others. */
const TAKEOVERS_MAX_OF_ORG = 8;

/**
 * Executions taken over from executors that were lost. A sweep begins them and never waits for them: an upstream may
 * hang, and what stands behind it must not.
 */
export class Takeovers {
  private readonly underWay = new Map<ActionId, OrgId>();

  constructor(
    private readonly executor: Pick<ActionExecutor, 'claimAndRun'>,
    private readonly logger: Logger,
  ) {}

  /** False when it is under way already, or when there is no room: the next sweep comes again. */
  begin(org: OrgId, id: ActionId, lost: ExecutionAttempt): boolean {
    if (this.underWay.has(id) || this.underWay.size >= TAKEOVERS_MAX) return false;
    const ofOrg = [...this.underWay.values()].filter((each) => each === org).length;
    if (ofOrg >= TAKEOVERS_MAX_OF_ORG) return false;
    this.underWay.set(id, org);
    this.logger.warn('an execution lost its executor and is taken over', { action_id: id, attempt: lost.attempt });
    void this.run(id, lost).finally(() => this.underWay.delete(id));
    return true;
  }

  private async run(id: ActionId, lost: ExecutionAttempt): Promise<void> {
    try {
      await this.executor.claimAndRun(id, lost);
    } catch (error) {
      this.logger.error('an execution could not be taken over; the next sweep comes again', { action_id: id, error });
    }
  }
}
