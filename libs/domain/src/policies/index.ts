export { compilePolicy } from './compile-policy.js';
export { CompiledPolicies, type LoadedPolicy } from './compiled-policies.js';
export type { CompiledPolicy, CompileResult } from './compiled-policy.js';
export {
  DIAGNOSTICS_MAX,
  POLICY_DIAGNOSTICS,
  type PolicyDiagnostic,
  type PolicyDiagnosticCode,
} from './diagnostics.js';
export {
  evaluatePolicy,
  POLICY_EVALUATION_LIMIT_MS,
  type PolicyDecision,
  policyUnavailable,
} from './evaluate-policy.js';
export { type AddedVersion, AddPolicyVersion, AddPolicyVersionHandler } from './handlers/add-policy-version.handler.js';
export { CreatePolicy, CreatePolicyHandler } from './handlers/create-policy.handler.js';
export type { CheckedVersion, PolicyCommand } from './policy.commands.js';
export { POLICY_NAME_MAX_CHARACTERS, POLICY_NOTES_MAX_CHARACTERS, policyDecider } from './policy.decider.js';
export type { PolicyEvent, PolicyVersionOrigin } from './policy.events.js';
export type { CallMode, CallSideEffect, PolicyInput, PolicyRequestFacts } from './policy-input.js';
export type { PolicyOutcome } from './policy-source.js';
export {
  type ExistingPolicy,
  findVersion,
  findVersionBySource,
  latestVersion,
  type Policy,
  type PolicyVersion,
} from './policy.state.js';
export { POLICY_SOURCE_MAX_BYTES } from './source-text.js';
export { DEFAULT_DENY_POLICY, STARTER_POLICY } from './starter-policy.js';
export {
  type ActivatedVersion,
  ActivatePolicyVersion,
  ActivatePolicyVersionHandler,
  DeactivatePolicy,
  DeactivatePolicyHandler,
  loadPolicy,
  type SlotChange,
  versionNamed,
} from './handlers/activate-policy-version.handler.js';
