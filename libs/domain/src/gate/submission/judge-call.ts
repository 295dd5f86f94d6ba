import type { PolicyInput } from '../../policies/index.js';
import type { Decision, ShadowDecision } from '../action/index.js';
import {
  type Judgement,
  type PolicyJudge,
  builtinDecision,
  heldDecision,
  isKnownToEdgeAlone,
  policyInputOf,
  whyToolUnknown,
} from '../judgement/index.js';
import type { CallAtGate } from './call-at-gate.js';

export const judgedInput = ({ command, request, agent, resolved }: CallAtGate): PolicyInput =>
  policyInputOf(request, agent, resolved, command.metadata.now);

/**
 * The refusal that the gate makes without a policy (a Stop, an unknown tool, one that its server changed); null if the
 * policy is to be asked.
 */
export const refusedByGate = ({ request, agent, org, connector, resolved }: CallAtGate): Decision | null =>
  builtinDecision(agent, org, resolved !== null || isKnownToEdgeAlone(request), () =>
    whyToolUnknown(request, connector),
  ) ?? (resolved === null ? null : heldDecision(resolved, org));

/** @throws {StoreUnavailable} if the policy cannot be read; then nothing is decided or recorded */
export const judgedByPolicy = (
  policy: PolicyJudge,
  { command, org }: CallAtGate,
  input: PolicyInput,
): Promise<Judgement> => policy.judge(command.org, org.enforced, input);

/**
 * What the policy version in shadow decides about the same input; null if the shadow slot is empty. Uses only what is
 * loaded in this process and waits for nothing, because the answer to the call does not depend on it.
 */
export const judgedInShadow = (
  policy: PolicyJudge,
  { org }: CallAtGate,
  input: PolicyInput,
  { decision }: Judgement,
): ShadowDecision | null => org.shadow && policy.shadowOf(org.org, org.shadow, input, decision);
