import { isLive, type ChangeJudgement, type LoggedTransaction } from '../../connectors/index.js';
import type { Logger, PayloadStore } from '../../kernel/index.js';
import { connectorRefOf, type LivingAction, parseToolName } from '../action/index.js';
import { judgedArguments, judgedTool } from '../judgement/index.js';
import type { GateKernel } from '../kernel/index.js';

/**
 * Asks the postcondition of the tool that an action has called, as the connector has it now: where an admin has taken it
 * away since, nobody asks for it. `unanswered`: the connector is gone, the tool was changed and has one, or the arguments
 * are no longer stored.
 */
export class JudgedChanges {
  constructor(
    private readonly gate: Pick<GateKernel, 'streams' | 'registry'>,
    private readonly payloads: PayloadStore,
    private readonly logger: Logger,
  ) {}

  async of(action: LivingAction, logged: LoggedTransaction): Promise<ChangeJudgement> {
    const { state } = await this.gate.streams.load(connectorRefOf(action.submission));
    const driver = isLive(state) ? this.gate.registry.driverOf(state.type) : null;
    const tool = parseToolName(action.submission.tool)?.tool ?? '';
    if (!isLive(state) || driver === null || state.id !== action.submission.connector) return 'unanswered';
    // Most tools have none, and then the arguments need not be read.
    if (driver.judgeChange(state, tool, {}, logged) === 'none') return 'none';
    if (judgedTool(this.gate.registry, action, state) === null) return 'unanswered';
    const args = await judgedArguments(action, this.payloads, this.logger);
    return args === null ? 'unanswered' : driver.judgeChange(state, tool, args, logged);
  }
}
