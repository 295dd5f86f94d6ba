export type { CheckedVersion, PolicyCommand } from './policy.commands.js';
export { POLICY_NAME_MAX_CHARACTERS, POLICY_NOTES_MAX_CHARACTERS, policyDecider } from './policy.decider.js';
export type { PolicyEvent, PolicyVersionOrigin } from './policy.events.js';
export {
  type ExistingPolicy,
  findVersion,
  findVersionBySource,
  latestVersion,
  type Policy,
  type PolicyVersion,
} from './policy.state.js';
