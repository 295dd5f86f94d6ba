import { Injectable } from '@nestjs/common';
import {
  type Actor,
  DomainError,
  FoldedStreams,
  type OrgId,
  parseId,
  streamRef,
  type UserId,
} from '#libs/domain/kernel';
import { activeMembershipOf, organizationDecider } from '#libs/domain/people';

/** Who answers for a new agent. */
@Injectable()
export class AgentOwners {
  constructor(private readonly streams: FoldedStreams) {}

  /**
   * The member that was named, or else the one who asks; where a key asks, who the organization was made for.
   * @throws {DomainError} validation_failed for who is no active member of the organization
   */
  async ownerFor(org: OrgId, named: string | undefined, actor: Actor): Promise<UserId | null> {
    const { state } = await this.streams.load(streamRef(organizationDecider, org));
    const first = state.status === 'none' ? null : state.owner;
    const asking = actor.type === 'user' ? parseId('usr', actor.id) : null;
    if (named === undefined) return asking ?? first;
    const owner = parseId('usr', named);
    if (owner !== null && state.status !== 'none' && activeMembershipOf(state.members, owner)) return owner;
    throw new DomainError('validation_failed', {
      param: 'owner',
      message:
        'The field owner must be the id of an active member of this organization, usr_ and 26 characters. GET /v1/org/members lists them.',
    });
  }
}
