import type { JsonObject } from '#libs/crypto';
import { isLive, type ConnectorDriver, type ConnectorState, type LiveConnector } from '../../connectors/index.js';
import { DamagedPayload, type Logger, type PayloadStore } from '../../kernel/index.js';
import { sendableToolDigest, type LivingAction, parseToolName } from '../action/index.js';
import type { GateKernel } from '../kernel/index.js';
import { heldSentence } from './held-tool.js';
import { recordedInput } from './recorded-input.js';

/** The tool that an action calls, in the definition it was judged by. */
export interface JudgedTool {
  readonly connector: LiveConnector;
  readonly driver: ConnectorDriver;
  readonly toolName: string;
}

/** The action's tool, if its definition is still the one that was judged, or that was approved later; else null. */
export const judgedTool = (
  registry: GateKernel['registry'],
  action: LivingAction,
  state: ConnectorState,
): JudgedTool | null => {
  const { submission } = action;
  if (!isLive(state) || state.id !== submission.connector || state.status !== 'active') return null;
  const toolName = parseToolName(submission.tool)?.tool ?? '';
  const driver = registry.driverOf(state.type);
  const current = driver?.toolOf(state, toolName);
  // One that is held may be what was approved before it changed back and forth: nobody lets it be called now.
  const isAsJudged = current?.digest === sendableToolDigest(action) && current.held === undefined;
  return driver && isAsJudged ? { connector: state, driver, toolName } : null;
};

/** Why a call that was allowed can no longer be sent: its server changed the tool meanwhile; null if that is not why. */
export const whyHeldNow = (
  registry: GateKernel['registry'],
  { submission }: LivingAction,
  state: ConnectorState,
): string | null => {
  if (!isLive(state) || state.id !== submission.connector || state.status !== 'active') return null;
  const tool = registry.driverOf(state.type)?.toolOf(state, parseToolName(submission.tool)?.tool ?? '');
  return tool?.held ? `Nothing was sent. ${heldSentence(state.name, tool.name, tool.held)}` : null;
};

/** The arguments as they were judged. Null if they are removed or damaged; a retry would not help. */
export const judgedArguments = async (
  { submission }: LivingAction,
  payloads: PayloadStore,
  logger: Logger,
): Promise<JsonObject | null> => {
  try {
    return (await recordedInput(payloads, submission))?.args ?? null;
  } catch (error) {
    if (!(error instanceof DamagedPayload)) throw error;
    const { action: owner } = submission;
    logger.error('the arguments of a call are not those that were judged', { action_id: owner, error });
    return null;
  }
};
