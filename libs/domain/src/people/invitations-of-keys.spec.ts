import { describe, it } from 'vitest';
import { after, givenFor, NOW } from '../../../../test/support/given.js';
import { ORG } from '../../../../test/support/gate-fixtures.js';
import type { KeyId, MembershipId, UserId } from '../kernel/index.js';
import { organizationDecider } from './organization.decider.js';
import type { OrganizationEvent } from './organization.events.js';

const given = givenFor(organizationDecider);
const OWNER = {
  owner: 'usr_00000000000000000000000001' as UserId,
  membership: 'mem_00000000000000000000000001' as MembershipId,
};
const GUEST = {
  user: 'usr_00000000000000000000000002' as UserId,
  membership: 'mem_00000000000000000000000002' as MembershipId,
};
const KEY = 'key_00000000000000000000000001' as KeyId;
const OTHER = 'key_00000000000000000000000002' as KeyId;

const recordOf = (key: KeyId) => ({ key, prefix: 'p', hash: 'ab', livemode: true });
const keyCreated = (key: KeyId): OrganizationEvent => ({
  type: 'AdminKeyCreated',
  data: { org: ORG, record: recordOf(key), at: NOW },
});
const keyRevoked = (key: KeyId): OrganizationEvent => ({ type: 'AdminKeyRevoked', data: { org: ORG, key, at: NOW } });
/** Without an overlap. */
const keyRolled: OrganizationEvent = {
  type: 'AdminKeyRolled',
  data: { org: ORG, key: KEY, successor: recordOf(OTHER), expires_at: NOW, at: NOW },
};

const invited: readonly OrganizationEvent[] = [
  { type: 'OrganizationCreated', data: { org: ORG, name: 'Acme', timezone: 'UTC', ...OWNER, at: NOW } },
  keyCreated(KEY),
  {
    type: 'MemberInvited',
    data: {
      org: ORG,
      ...GUEST,
      role: 'viewer',
      invitation: 'i1',
      by: { type: 'admin_key', id: KEY },
      expires_at: after(60_000),
      at: NOW,
    },
  },
];
const join = { type: 'JoinOrganization', data: { membership: GUEST.membership, invitation: 'i1' } } as const;
const joined: OrganizationEvent = { type: 'MemberJoined', data: { org: ORG, ...GUEST, role: 'viewer', at: NOW } };

describe('an invitation that an admin key made', () => {
  it('outlives a roll of the key, by its successor', () => {
    given(...invited, keyRolled)
      .when(join)
      .then(joined);
    given(...invited, keyRolled, keyRevoked(OTHER))
      .when(join)
      .thenRefuses('login_link_invalid');
  });

  it('ends when that very key is revoked, also after it was rolled', () => {
    given(...invited, keyRolled, keyRevoked(KEY))
      .when(join)
      .thenRefuses('login_link_invalid');
  });

  it('holds by no other key of the organization', () => {
    given(...invited, keyCreated(OTHER), keyRevoked(KEY))
      .when(join)
      .thenRefuses('login_link_invalid');
  });
});
