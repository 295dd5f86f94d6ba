import type { PolicyInput } from '../../policies/index.js';
import type { Decision, ShadowDecision } from '../action.events.js';
import type { Judgement, PolicyJudge } from '../policy-judge.js';
import { builtinDecision, isKnownToEdgeAlone, policyInputOf, whyToolUnknown } from '../submission.js';
import type { CallAtGate } from './call-at-gate.js';

export const judgedInput = ({ command, request, agent, resolved }: CallAtGate): PolicyInput =>
  policyInputOf(request, agent, resolved, command.metadata.now);

/** Null where the gate itself has nothing against the call, and the policy is to be asked. */
export const refusedByGate = ({ request, agent, org, connector, resolved }: CallAtGate): Decision | null =>
  builtinDecision(agent, org, resolved !== null || isKnownToEdgeAlone(request), () =>
    whyToolUnknown(request, connector),
  );

/** @throws {StoreUnavailable} the policy could not be read: nothing is decided, and nothing recorded */
export const judgedByPolicy = (
  policy: PolicyJudge,
  { command, org }: CallAtGate,
  input: PolicyInput,
): Promise<Judgement> => policy.judge(command.org, org.enforced, input);

/**
 * What the version in shadow says of the same input; null where none is in that slot. Told from what the process knows, and
 * never waited for: the answer to the call is made already.
 */
export const judgedInShadow = (
  policy: PolicyJudge,
  { org }: CallAtGate,
  input: PolicyInput,
  { decision }: Judgement,
): ShadowDecision | null => org.shadow && policy.shadowOf(org.org, org.shadow, input, decision);
