export { checkChangePostcondition, checkPostcondition, type PostconditionError } from './check-postcondition.js';
export { checkToolsInTurns } from './check-tools.js';
export { compilePolicy, compilePolicyInTurns } from './compile-policy.js';
export { CompiledPolicies, type LoadedPolicy } from './compiled-policies.js';
export type { CompiledPolicy } from './compiled-policy.js';
export type { DeclaredTool } from './declared-tools.js';
export {
  DIAGNOSTICS_MAX,
  inOrderOfText,
  POLICY_DIAGNOSTICS,
  type PolicyDiagnostic,
  type PolicyDiagnosticCode,
} from './diagnostics.js';
export {
  POLICY_EVALUATION_LIMIT_MS,
  evaluatePolicy,
  type PolicyDecision,
  policyUnavailable,
} from './evaluate-policy.js';
export {
  type ChangedRow,
  type ChangePostconditionInput,
  holdsChangePostcondition,
  holdsPostcondition,
} from './holds-postcondition.js';
export { AddPolicyVersion, AddPolicyVersionHandler } from './handlers/add-policy-version.handler.js';
export { compiledOrRefused, policyInvalid } from './handlers/checked-version.js';
export { CreatePolicy, CreatePolicyHandler } from './handlers/create-policy.handler.js';
export { type PolicyCase, readCasesInTurns } from './policy-cases.js';
export { POLICY_LANGUAGE } from './policy-language.js';
export { policyDecider } from './policy.decider.js';
export type { PolicyEvent, PolicyVersionOrigin } from './policy.events.js';
export {
  OFFERED_LEVELS,
  type OfferedLevel,
  type PolicyBudget,
  type RequiredApproval,
  RULE_ID_PATTERN,
} from './policy-source.js';
export type { PolicyInput } from './policy-input.js';
export { type ExistingPolicy, latestVersion, type PolicyVersion } from './policy.state.js';
export { type CaseResult, testPolicyInTurns } from './test-policy.js';
export { type TracedRule, tracePolicy } from './trace-policy.js';
export { outlineRulesInTurns } from './rule-outlines.js';
export { hiddenSince, type ToolVisibility, visibilityTo } from './tool-visibility.js';
export { completedInput, isFault, readTrialInput, type TrialInput, type TriedTool } from './trial-input.js';
export { DEFAULT_DENY_POLICY, STARTER_POLICY, STARTER_POLICY_WITH_DEMO } from './starter-policy.js';
export {
  ActivatePolicyVersion,
  ActivatePolicyVersionHandler,
  DeactivatePolicy,
  DeactivatePolicyHandler,
  loadPolicy,
  versionNamed,
} from './handlers/activate-policy-version.handler.js';
