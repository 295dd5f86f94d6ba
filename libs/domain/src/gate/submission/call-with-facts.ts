import type { GateKernel } from '../kernel/index.js';
import { needsReadFacts, withReadFacts } from '../judgement/index.js';
import type { CallAtGate } from './call-at-gate.js';
import { refusedByGate } from './judge-call.js';

/** Whether the system is to be asked before the policy: a used key and a refusal of the gate's own need no facts. */
export const mayReadFacts = (call: CallAtGate): boolean =>
  needsReadFacts(call.resolved) && call.action.revision === 'no_stream' && refusedByGate(call) === null;

/**
 * The call with the facts that its system was asked for. All else is asked anew once it has answered: a Stop, a changed
 * connector or a breaker that the answer has tripped counts, although the reading took its time.
 */
export const calledWithFacts = async (
  gate: GateKernel,
  { resolved, request, org, agent }: CallAtGate,
  ask: () => Promise<CallAtGate>,
): Promise<CallAtGate> => {
  if (resolved === null) return ask();
  const { args } = request;
  const read = await withReadFacts(gate, resolved, { org: org.org, agent: agent.agent, args, recorded: null });
  const now = await ask();
  const isSame =
    now.resolved?.tool.digest === resolved.tool.digest && now.request.canonicalArgs === request.canonicalArgs;
  return isSame ? { ...now, resolved: { ...now.resolved, facts: read.facts } } : now;
};
