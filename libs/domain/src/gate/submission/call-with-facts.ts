import type { GateKernel } from '../kernel/index.js';
import { needsReadFacts, withReadFacts } from '../judgement/index.js';
import type { CallAtGate } from './call-at-gate.js';
import { refusedByGate } from './judge-call.js';

/** Whether the system is to be asked before the policy: a used key and a refusal of the gate's own need no facts. */
export const mayReadFacts = (call: CallAtGate): boolean =>
  needsReadFacts(call.resolved) && call.action.revision === 'no_stream' && refusedByGate(call) === null;

/** How to go on with a call whose system is asked for facts. */
interface Steps {
  readonly ask: () => Promise<CallAtGate>;
  readonly isDenied: (call: CallAtGate) => Promise<boolean>;
}

/**
 * The call with the facts that its system was asked for. All else is asked anew once it has answered: a Stop, a changed
 * connector or a breaker that the answer has tripped counts, although the reading took its time. What was read a moment ago
 * for another call is good enough to refuse by: whatever else is decided by facts of its own, as the system has them now.
 */
export const calledWithFacts = async (gate: GateKernel, call: CallAtGate, steps: Steps): Promise<CallAtGate> => {
  const first = await readAndAsked(gate, call, steps, true);
  if (!first.isRemembered || (await steps.isDenied(first.call))) return first.call;
  return (await readAndAsked(gate, call, steps, false)).call;
};

const readAndAsked = async (
  gate: GateKernel,
  { resolved, request, org, agent }: CallAtGate,
  { ask }: Steps,
  mayBeRemembered: boolean,
): Promise<{ readonly call: CallAtGate; readonly isRemembered: boolean }> => {
  if (resolved === null) return { call: await ask(), isRemembered: false };
  const of = { org: org.org, agent: agent.agent, args: request.args, recorded: null, mayBeRemembered };
  const { resolved: read, isRemembered } = await withReadFacts(gate, resolved, of);
  const now = await ask();
  const isSame =
    now.resolved?.tool.digest === resolved.tool.digest && now.request.canonicalArgs === request.canonicalArgs;
  return isSame
    ? { call: { ...now, resolved: { ...now.resolved, facts: read.facts } }, isRemembered }
    : { call: now, isRemembered: false };
};
