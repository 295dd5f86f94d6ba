import type { Digest } from '#libs/crypto';

import type { Actor, OrgId, PolicyId, PolicyVersionId, Timestamp } from '../kernel/index.js';
import type { PolicyVersionOrigin } from './policy.events.js';

/** Never changes once added. */
export interface PolicyVersion {
  readonly id: PolicyVersionId;
  readonly version: number;
  readonly source: string;
  readonly sourceHash: Digest;
  readonly versionHash: Digest;
  readonly notes: string | null;
  readonly author: Actor;
  readonly origin: PolicyVersionOrigin;
  readonly createdAt: Timestamp;
}

export type Policy =
  | { readonly status: 'none' }
  | {
      readonly status: 'existing';
      readonly org: OrgId;
      readonly policy: PolicyId;
      readonly name: string;
      readonly createdAt: Timestamp;
      /** Oldest first; at least one, since creation adds it in the same append. */
      readonly versions: readonly PolicyVersion[];
    };

export type ExistingPolicy = Exclude<Policy, { status: 'none' }>;

/** The version with that number or `pv_` id; null when the policy has none such. */
export const findVersion = (policy: ExistingPolicy, version: number | string): PolicyVersion | null =>
  policy.versions.find(({ id, version: number }) => id === version || number === version) ?? null;

export const findVersionBySource = (policy: ExistingPolicy, sourceHash: Digest): PolicyVersion | null =>
  policy.versions.find((version) => version.sourceHash === sourceHash) ?? null;

export const latestVersion = (policy: ExistingPolicy): PolicyVersion => {
  const latest = policy.versions.at(-1);
  if (latest === undefined) throw new Error(`policy ${policy.policy} has no version`);
  return latest;
};
