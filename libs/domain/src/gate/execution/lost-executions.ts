import type { CallOutcome } from '../../connectors/index.js';
import {
  actionChannel,
  type ActionId,
  type Bus,
  type Logger,
  streamRef,
  SYSTEM,
  timestampOf,
} from '../../kernel/index.js';
import {
  type ActionCommand,
  actionDecider,
  beganAt,
  connectorRefOf,
  currentAttempt,
  type FoundOutcome,
  isLiving,
  type LivingAction,
  progressOf,
} from '../action/index.js';
import { judgedTool } from '../judgement/index.js';
import type { GateKernel } from '../kernel/index.js';
import { foundOutcome } from './outcome-recorder.js';

/** How long the system is asked what became of an attempt. After that the outcome is unknown. */
const ASKED_MAX_MS = 15_000;

type GivenUp = Extract<ActionCommand, { type: 'GiveUpExecution' }>['data'];

/**
 * Ends executions whose executor is gone. Where the attempt has put on record what it was about to do, the system itself
 * is asked what became of it first (rule EXEC-1): most outcomes that would be unknown are then known.
 */
export class LostExecutions {
  constructor(
    private readonly gate: GateKernel,
    private readonly bus: Bus,
    private readonly logger: Logger,
  ) {}

  /**
   * @param lost the claim, and how it was found to be lost; the decider checks both again
   * @returns whether the execution was ended by this call
   * @throws {StoreUnavailable} nothing is known then; the next sweep comes again
   */
  async settle(id: ActionId, lost: Omit<GivenUp, 'found'>): Promise<boolean> {
    const { state } = await this.gate.streams.load(streamRef(actionDecider, id));
    if (!isLiving(state) || currentAttempt(state)?.claim !== lost.claim) return false;
    const found = await this.ask(id, state);
    const now = timestampOf(this.gate.clock.nowMs());
    const metadata = {
      ...{ org: state.submission.org, actor: SYSTEM, requestId: null },
      ...{ commandId: `give-up:${lost.claim}`, correlation: id, now },
    };
    const command = { type: 'GiveUpExecution' as const, data: { ...lost, found }, metadata };
    const { events } = await this.gate.runner.run(actionDecider, id, command, metadata);
    if (events.length > 0) this.bus.publish(actionChannel(id), 'recorded');
    return events.length > 0;
  }

  /** Null if there is nothing to ask by, or nobody who could answer. */
  private async ask(id: ActionId, action: LivingAction): Promise<FoundOutcome | null> {
    const attempt = currentAttempt(action);
    const progress = attempt === null ? null : progressOf(action, attempt.attempt);
    if (attempt === null || progress === null) return null;
    const { state } = await this.gate.streams.load(connectorRefOf(action.submission));
    const found = judgedTool(this.gate.registry, action, state);
    if (found === null) return null;
    const { driver, connector, toolName } = found;
    const deadlineMonotonicMs = this.gate.clock.monotonicMs() + ASKED_MAX_MS;
    const outcome = await this.answerOf(id, () =>
      driver.outcomeOfLost({
        ...{ org: action.submission.org, action: id, connector, toolName, said: progress.said, deadlineMonotonicMs },
      }),
    );
    if (outcome === null) return null;
    const now = timestampOf(this.gate.clock.nowMs());
    // What the tool answered is lost, so there is no result.
    return foundOutcome(outcome, { result_digest: null }, { startedAt: beganAt(action, attempt), now });
  }

  private async answerOf(id: ActionId, asked: () => Promise<CallOutcome | null>): Promise<CallOutcome | null> {
    try {
      return await asked();
    } catch (error) {
      // A driver must not throw. If it does, nobody knows more than before.
      this.logger.error('a connector driver failed', { action_id: id, error });
      return null;
    }
  }
}
