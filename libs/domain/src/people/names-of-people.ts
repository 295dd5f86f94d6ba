import { type FoldedStreams, type OrgId, streamRef, type UserId } from '../kernel/index.js';
import { organizationDecider } from './organization.decider.js';
import type { PeopleDirectory } from './people.ports.js';

/** How an organization knows people: by the addresses that its members have, or were invited by. */
export class NamesOfPeople {
  constructor(
    private readonly streams: Pick<FoldedStreams, 'load'>,
    private readonly people: Pick<PeopleDirectory, 'addressesOf' | 'invitedAs'>,
  ) {}

  /**
   * Of an active member the address of today; of everybody else the one that the organization itself once invited, because the
   * new address of somebody who has left is none of its business. Who was erased, or never invited, has no name.
   */
  async of(org: OrgId, users: readonly UserId[]): Promise<ReadonlyMap<UserId, string>> {
    if (users.length === 0) return new Map();
    const { state } = await this.streams.load(streamRef(organizationDecider, org));
    const members = state.status === 'none' ? [] : [...state.members.values()];
    const active = new Set(members.filter(({ status }) => status === 'active').map(({ user }) => user));
    const [now, invited] = await Promise.all([
      this.people.addressesOf(users.filter((user) => active.has(user))),
      this.people.invitedAs(
        org,
        users.filter((user) => !active.has(user)),
      ),
    ]);
    return new Map([...invited, ...now]);
  }
}
