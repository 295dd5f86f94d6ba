import type { JsonObject } from '#libs/crypto';
import type { PolicyId, PolicyVersionId, Timestamp } from '#libs/domain/kernel';
import type { LivingOrganization, PolicyMode } from '#libs/domain/people';
import {
  type ExistingPolicy,
  latestVersion,
  outlineRulesInTurns,
  type PolicyDiagnostic,
  type PolicyVersion,
} from '#libs/domain/policies';
import type { ListedPolicyVersion } from './policy-pages.js';
import type { ListedPolicy } from './list-policies.query-handler.js';

/** The organization's slots: what decides, and what is only recorded. */
export type PolicySlots = Pick<LivingOrganization, 'enforced' | 'shadow'>;

/** A policy and its latest version, as they stand in their streams now. */
export const policyView = (policy: ExistingPolicy, slots: PolicySlots): JsonObject =>
  policyObject({
    ...policy,
    id: policy.policy,
    latest: versionView(policy.policy, latestVersion(policy), slots),
    enforced: versionHeldBy(slots.enforced, policy.policy),
    shadow: versionHeldBy(slots.shadow, policy.policy),
  });

const versionView = (policy: PolicyId, version: PolicyVersion, slots: PolicySlots): JsonObject =>
  versionObject(policy, version, activationOf(version.id, slots));

/** The version by itself, with what its source says in short. Lists leave that out: they would parse every source. */
export const outlinedVersionView = async (
  policy: PolicyId,
  version: PolicyVersion,
  slots: PolicySlots,
): Promise<JsonObject> => {
  const rules = await outlineRulesInTurns(version.source);
  return { ...versionView(policy, version, slots), rules: rules && rules.map((rule) => ({ ...rule })) };
};

/** The same objects, as a list reads them from its rows. */
export const listedPolicyView = ({ policy, latestVersion: latest, enforced, shadow }: ListedPolicy): JsonObject =>
  policyObject({ ...policy, latest: listedVersionView(latest), enforced, shadow });

export const listedVersionView = ({ version, activation }: ListedPolicyVersion): JsonObject =>
  versionObject(version.policy, version, activation);

/** Findings about a source, as in the answer of a lint. */
export const diagnosticsView = (diagnostics: readonly PolicyDiagnostic[]): JsonObject[] =>
  diagnostics.map((each) => ({ ...each }));

interface PolicyMembers {
  readonly id: PolicyId;
  readonly name: string;
  readonly latest: JsonObject;
  readonly enforced: PolicyVersionId | null;
  readonly shadow: PolicyVersionId | null;
  readonly createdAt: Timestamp;
}

const policyObject = ({ id, name, latest, enforced, shadow, createdAt }: PolicyMembers): JsonObject => ({
  object: 'policy',
  id,
  name,
  activation: enforced !== null ? 'enforce' : shadow !== null ? 'shadow' : null,
  enforced_version: enforced,
  shadow_version: shadow,
  latest_version: latest,
  created_at: createdAt,
});

const versionObject = (policy: PolicyId, version: PolicyVersion, activation: PolicyMode | null): JsonObject => ({
  object: 'policy_version',
  id: version.id,
  policy,
  version: version.version,
  version_hash: version.versionHash,
  source_hash: version.sourceHash,
  source: version.source,
  notes: version.notes,
  author: { ...version.author },
  origin: version.origin,
  activation,
  created_at: version.createdAt,
});

const versionHeldBy = (slot: PolicySlots['enforced'], policy: PolicyId): PolicyVersionId | null =>
  slot?.policy === policy ? slot.versionId : null;

const activationOf = (version: PolicyVersionId, { enforced, shadow }: PolicySlots): PolicyMode | null => {
  if (enforced?.versionId === version) return 'enforce';
  return shadow?.versionId === version ? 'shadow' : null;
};
