import { epochMsOf, streamRef, type ActionId, type CommandMetadata } from '../../kernel/index.js';
import { actionDecider } from '../action.decider.js';
import type { Action } from '../action.state.js';
import type { HeldPlace } from '../approval-places.port.js';
import type { GateKernel } from '../gate-kernel.js';
import type { CallAtGate } from './call-at-gate.js';
import { isLiving } from './execution.js';

/** A submission whose append has not come by then was left behind by a crash. */
const LEFT_BEHIND_AFTER_MS = 60 * 1000;

/**
 * A place among the calls of the agent that wait for people: one agent must not bury the calls of all others. Where all are taken,
 * those go first whose calls wait no more.
 * @returns false when as many calls of the agent wait as may
 * @throws {StoreUnavailable}
 */
export const takePlace = async (gate: GateKernel, { agent: { agent }, id, command }: CallAtGate): Promise<boolean> => {
  const reservedMs = gate.clock.nowMs();
  const wanted = { agent, action: id, reservedMs, limit: gate.settings.waitingPerAgentMax };
  if (await gate.places.take(wanted)) return true;
  const held = await gate.places.heldBy(agent);
  const refs = held.map(({ action }) => [action, streamRef(actionDecider, action)] as const);
  const states = await gate.streams.loadAll(Object.fromEntries(refs));
  const free: ActionId[] = [];
  for (const place of held) {
    const state = states[place.action]?.state;
    if (state !== undefined && (await isFree(gate, place, state, command.metadata))) free.push(place.action);
  }
  if (free.length === 0) return false;
  await gate.places.free(agent, free);
  return gate.places.take(wanted);
};

const isFree = async (
  gate: GateKernel,
  { action, reservedMs }: HeldPlace,
  state: Action,
  metadata: CommandMetadata,
): Promise<boolean> => {
  if (state.state !== 'none') return !isWaiting(state, gate.clock.nowMs());
  if (gate.clock.nowMs() - reservedMs < LEFT_BEHIND_AFTER_MS) return false;
  // Whoever reserved may only be slow: an id that is abandoned takes no submission any more, so its append, if it still comes, fails.
  const command = { type: 'AbandonSubmission' as const, data: { action }, metadata };
  const { folded } = await gate.runner.run(actionDecider, action, command, metadata);
  return !isWaiting(folded.state, gate.clock.nowMs());
};

const isWaiting = (action: Action, nowMs: number): boolean =>
  isLiving(action) && action.approval?.status === 'pending' && nowMs < epochMsOf(action.approval.terms.expires_at);
