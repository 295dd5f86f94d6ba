import type { Digest } from '#libs/crypto';
import { type ActionId, streamRef } from '../../kernel/index.js';
import { actionDecider, courseOf, isLiving } from '../action/index.js';
import { comparisonOf, type Judgement } from '../judgement/index.js';
import type { GateKernel } from '../kernel/index.js';
import type { CallAtGate } from './call-at-gate.js';
import type { SubmittedAction } from './submit-action.command.js';

/**
 * The call would wait for people, and whoever sent it may send it again without a key: a model that is told to wait does.
 * It is to be submitted under an id that a repeat finds. Nothing was written.
 */
export class WouldWait extends Error {
  override readonly name = 'WouldWait';

  /** @param comparison of the request and of the tool as it is now: two different ones are no repeats of each other */
  constructor(readonly comparison: Digest) {
    super();
  }
}

/**
 * Only MCP clients repeat calls without saying so: MCP has no key (rule MCP-3). The policy is asked first, because a call that
 * runs, or is refused, is not looked for and costs nothing.
 * @param joins the comparison digest that the call's id comes from; null if the id comes from its request
 * @throws {WouldWait}
 */
export const requireAnIdToJoin = (
  { request, resolved }: CallAtGate,
  { decision }: Judgement,
  joins: Digest | null,
): void => {
  if (request.origin !== 'mcp' || request.idempotencyKey !== null || courseOf(decision) !== 'waits') return;
  const { comparison } = comparisonOf(request, resolved?.tool.digest ?? null);
  // The tool may have changed since the id was made: then the call is another one.
  if (comparison !== joins) throw new WouldWait(comparison);
};

/** The answer to a repeat: the action that has this id, unless it has ended or never came to be. */
export const repeatOf = async (gate: GateKernel, id: ActionId): Promise<SubmittedAction | null> => {
  const { state } = await gate.streams.load(streamRef(actionDecider, id));
  if (!isLiving(state) || state.sealingRevision !== null) return null;
  return { action: id, isReplay: true, isRefused: false, isExecuting: false };
};
