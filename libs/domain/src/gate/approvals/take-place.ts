import {
  epochMsOf,
  isStoreAway,
  streamRef,
  type ActionId,
  type AgentId,
  type CommandMetadata,
  type Folded,
} from '../../kernel/index.js';
import { actionDecider, type Action, isLiving } from '../action/index.js';
import type { ApprovalPlaces, HeldPlace } from './approval-places.port.js';
import { LEFT_BEHIND_AFTER_MS, type GateKernel } from '../kernel/index.js';

/** A call that is about to wait for people. */
export interface Waiter {
  readonly agent: AgentId;
  readonly action: ActionId;
  readonly metadata: CommandMetadata;
}

/**
 * Takes a place among the agent's waiting calls. The limit keeps one agent's calls from burying those of others. If all
 * places are taken, places whose calls no longer wait are freed first. A call whose events cannot be read keeps its
 * place: nobody can say whether it waits.
 * @returns false if the agent's limit of waiting calls is reached
 * @throws {StoreUnavailable}
 */
export const takePlace = async (
  gate: GateKernel,
  places: ApprovalPlaces,
  { agent, action, metadata }: Waiter,
): Promise<boolean> => {
  const reservedMs = gate.clock.nowMs();
  const wanted = { agent, action, reservedMs, limit: gate.settings.waitingPerAgentMax };
  if (await places.take(wanted)) return true;
  const held = await places.heldBy(agent);
  const states = await readableStates(gate, held);
  const free: ActionId[] = [];
  for (const place of held) {
    const state = states.get(place.action);
    if (state !== undefined && (await isFree(gate, place, state, metadata))) free.push(place.action);
  }
  if (free.length === 0) return false;
  await places.free(agent, free);
  return places.take(wanted);
};

/** The states of these actions, without those that cannot be read (`npm run ags -- audit` names them). */
const readableStates = async (gate: GateKernel, held: readonly HeldPlace[]): Promise<ReadonlyMap<ActionId, Action>> => {
  const refs = held.map(({ action }) => [action, streamRef(actionDecider, action)] as const);
  const together = gate.streams.loadAll(Object.fromEntries(refs));
  const states = await Promise.all(
    refs.map(async ([action, ref]) => {
      try {
        const folded = await together.catch(async (error: unknown) => {
          if (isStoreAway(error)) throw error;
          // One action that cannot be folded fails `loadAll` for all, so each is loaded by itself.
          return { [action]: await gate.streams.load(ref) };
        });
        return [[action, (folded[action] as Folded<Action>).state] as const];
      } catch (error) {
        if (isStoreAway(error)) throw error;
        return [];
      }
    }),
  );
  return new Map(states.flat());
};

const isFree = async (
  gate: GateKernel,
  { action, reservedMs }: HeldPlace,
  state: Action,
  metadata: CommandMetadata,
): Promise<boolean> => {
  if (state.state !== 'none') return !isWaiting(state, gate.clock.nowMs());
  if (gate.clock.nowMs() - reservedMs < LEFT_BEHIND_AFTER_MS) return false;
  // The append of the call may only be slow. After its id is abandoned, that append fails.
  const command = { type: 'AbandonSubmission' as const, data: { action }, metadata };
  const { folded } = await gate.runner.run(actionDecider, action, command, metadata);
  return !isWaiting(folded.state, gate.clock.nowMs());
};

const isWaiting = (action: Action, nowMs: number): boolean =>
  isLiving(action) && action.approval?.status === 'pending' && nowMs < epochMsOf(action.approval.terms.expires_at);
