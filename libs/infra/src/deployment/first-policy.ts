import { type DeedId, operatorMetadata, type OrgId, streamRef } from '#libs/domain/kernel';
import { organizationDecider } from '#libs/domain/people';
import {
  ActivatePolicyVersion,
  ActivatePolicyVersionHandler,
  CreatePolicy,
  CreatePolicyHandler,
  type PolicyVersionOrigin,
} from '#libs/domain/policies';
import type { Deployment } from './deployment.js';

interface FirstPolicy {
  readonly name: string;
  readonly source: string;
  readonly origin: PolicyVersionOrigin;
  /** Sealed with its activation. */
  readonly reason: string;
  /** Begins the names of the two commands: they are the same at every try, so a repeated one changes nothing. */
  readonly commands: string;
}

/**
 * Makes the first policy of an organization and enforces it. Two writes: a crash between them leaves a policy that nobody
 * enforces, and the next try enforces that one. An operator who emptied the slot meant it: only an organization that never
 * had this policy gets it.
 * @returns the deed of its activation; null where nothing was changed
 */
export const ensureFirstPolicy = async (
  deployment: Pick<Deployment, 'streams' | 'runner' | 'clock' | 'randomness'>,
  org: OrgId,
  { name, source, origin, reason, commands }: FirstPolicy,
): Promise<DeedId | null> => {
  const { streams, runner } = deployment;
  const { state } = await streams.load(streamRef(organizationDecider, org));
  if (state.status === 'none' || state.enforced !== null) return null;
  const metadataOf = (what: string) => ({
    ...operatorMetadata(deployment, org),
    commandId: `${commands}:${what}:${org}`,
  });
  const create = new CreatePolicy({ org, name, source, notes: null, origin }, metadataOf('policy'));
  const { policy } = await new CreatePolicyHandler(runner).execute(create);
  const named = { policy, version: '1', mode: 'enforce' as const };
  const activate = new ActivatePolicyVersion(org, named, reason, metadataOf('activate'));
  return (await new ActivatePolicyVersionHandler(streams, runner).execute(activate)).deed;
};
