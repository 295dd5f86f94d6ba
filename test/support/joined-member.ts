import { randomBytes } from 'node:crypto';
import { idOf, operatorMetadata, type MembershipId, type OrgId, type UserId } from '#libs/domain/kernel';
import { organizationDecider, type OrganizationCommand, type Role } from '#libs/domain/people';
import type { Deployment } from '#libs/infra/deployment';

export interface JoinedMember {
  readonly user: UserId;
  readonly membership: MembershipId;
}

/** Somebody new who has joined, or a person whom another organization knows. No mail is written: those are limited to some an hour. */
export const joinedMember = async (
  operator: Deployment,
  org: OrgId,
  role: Role,
  user: UserId = idOf('usr', randomBytes(16)),
): Promise<JoinedMember> => {
  const [membership, invitation] = [idOf('mem', randomBytes(16)), randomBytes(16).toString('hex')];
  const run = async (command: Pick<OrganizationCommand, 'type' | 'data'>): Promise<void> => {
    const metadata = operatorMetadata(operator, org);
    await operator.runner.run(organizationDecider, org, { ...command, metadata } as OrganizationCommand, metadata);
  };
  await run({
    type: 'InviteMember',
    data: { membership, user, role, invitation, expiresAt: '2099-01-01T00:00:00.000Z' },
  });
  await run({ type: 'JoinOrganization', data: { membership, invitation } });
  await operator.people.directory.noteOrg(user, org);
  return { user, membership };
};
