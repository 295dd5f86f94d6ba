import { Injectable } from '@nestjs/common';
import { DomainError, FoldedStreams, type OrgId, parseId, type PolicyId, streamRef } from '#libs/domain/kernel';
import { type LivingOrganization, organizationDecider } from '#libs/domain/people';
import { type ExistingPolicy, loadPolicy } from '#libs/domain/policies';

/** A policy and the slots that may hold its versions, from their streams: a single object is never read from a projection. */
@Injectable()
export class PolicyReader {
  constructor(private readonly streams: FoldedStreams) {}

  /**
   * @param text `{id}` of a path
   * @throws {DomainError} not_found
   */
  async policyNamed(org: OrgId, text: string): Promise<ExistingPolicy> {
    return loadPolicy(this.streams, org, policyId(text));
  }

  async slotsOf(org: OrgId): Promise<LivingOrganization> {
    const { state } = await this.streams.load(streamRef(organizationDecider, org));
    if (state.status === 'none') throw new DomainError('not_found');
    return state;
  }
}

/** @throws {DomainError} not_found for what is no id of a policy */
export const policyId = (text: string): PolicyId => {
  const id = parseId('pol', text);
  if (!id) throw new DomainError('not_found');
  return id;
};
