import type pg from 'pg';
import type { OrgId, UserId } from '#libs/domain/kernel';
import { PeopleDirectory, type MailAddress, type SignInHasher } from '#libs/domain/people';
import { answered, sqlStateOf } from '../postgres/index.js';
import type { SealedAddresses } from './sealed-address.js';

const UNIQUE_VIOLATION = '23505';

/** Rows of `people.people` and `people.user_orgs`. */
export class PostgresPeopleDirectory extends PeopleDirectory {
  constructor(
    private readonly pool: pg.Pool,
    private readonly hasher: SignInHasher,
    private readonly addresses: SealedAddresses,
  ) {
    super();
  }

  override async claim(address: MailAddress, user: UserId): Promise<UserId> {
    const hash = this.hasher.addressHash(address);
    await answered(
      this.pool.query(
        `insert into people.people (user_id, address_hash, address) values ($1, $2, $3) on conflict do nothing`,
        [user, hash, this.addresses.seal(address, 'person', user)],
      ),
    );
    // Whoever it was that inserted: of two invitations of one address both go on with the same person.
    return (await this.find(hash)) ?? user;
  }

  override async find(addressHash: Uint8Array): Promise<UserId | null> {
    const { rows } = await answered(
      this.pool.query<{ user_id: UserId }>({
        name: 'person-find',
        text: `select user_id from people.people where address_hash = $1`,
        values: [addressHash],
      }),
    );
    return rows[0]?.user_id ?? null;
  }

  override async usersAt(addresses: readonly MailAddress[]): Promise<readonly UserId[]> {
    const { rows } = await answered(
      this.pool.query<{ user_id: UserId }>(`select user_id from people.people where address_hash = any($1::bytea[])`, [
        addresses.map((address) => this.hasher.addressHash(address)),
      ]),
    );
    return rows.map(({ user_id }) => user_id);
  }

  override async addressesOf(users: readonly UserId[]): Promise<ReadonlyMap<UserId, string>> {
    const { rows } = await answered(
      this.pool.query<{ user_id: UserId; address: Buffer }>(
        `select user_id, address from people.people where user_id = any($1)`,
        [users],
      ),
    );
    return new Map(rows.map(({ user_id, address }) => [user_id, this.addresses.open(address, 'person', user_id)]));
  }

  override async invitedAs(org: OrgId, users: readonly UserId[]): Promise<ReadonlyMap<UserId, string>> {
    const { rows } = await answered(
      this.pool.query<{ user_id: UserId; invited_as: Buffer }>(
        `select user_id, invited_as from people.user_orgs
          where org = $1 and user_id = any($2) and invited_as is not null`,
        [org, users],
      ),
    );
    return new Map(
      rows.map(({ user_id: user, invited_as: sealed }) => [
        user,
        this.addresses.open(sealed, 'invitation', invitationPlace(user, org)),
      ]),
    );
  }

  override async beginAddressChange(user: UserId, address: MailAddress, change: string): Promise<string | null> {
    try {
      const { rows } = await this.pool.query<{ address_change: string }>(
        `insert into people.people as known (user_id, address_hash, address, address_change) values ($1, $2, $3, $4)
         on conflict (user_id) do update set
           address_hash = excluded.address_hash,
           address = excluded.address,
           address_change = case when known.address_hash = excluded.address_hash
             then coalesce(known.address_change, excluded.address_change) else excluded.address_change end
         returning address_change`,
        [user, this.hasher.addressHash(address), this.addresses.seal(address, 'person', user), change],
      );
      return rows[0]?.address_change ?? change;
    } catch (error) {
      if (sqlStateOf(error) === UNIQUE_VIOLATION) return null;
      return answered(Promise.reject(error as Error));
    }
  }

  override async endAddressChange(user: UserId, change: string): Promise<void> {
    await answered(
      this.pool.query(`update people.people set address_change = null where user_id = $1 and address_change = $2`, [
        user,
        change,
      ]),
    );
  }

  override async orgsOf(user: UserId): Promise<readonly OrgId[]> {
    const { rows } = await answered(
      this.pool.query<{ org: OrgId }>({
        name: 'person-orgs',
        text: `select org from people.user_orgs where user_id = $1 order by org`,
        values: [user],
      }),
    );
    return rows.map(({ org }) => org);
  }

  override async noteOrg(user: UserId, org: OrgId): Promise<void> {
    await answered(
      this.pool.query(`insert into people.user_orgs (user_id, org) values ($1, $2) on conflict do nothing`, [
        user,
        org,
      ]),
    );
  }

  override async noteInvitation(user: UserId, org: OrgId, address: MailAddress): Promise<void> {
    await answered(
      this.pool.query(
        `insert into people.user_orgs (user_id, org, invited_as) values ($1, $2, $3)
         on conflict (user_id, org) do update set invited_as = excluded.invited_as`,
        [user, org, this.addresses.seal(address, 'invitation', invitationPlace(user, org))],
      ),
    );
  }

  override async erase(user: UserId): Promise<void> {
    // Tokens also know the addresses that the person had before.
    const statement = `
      with gone as (delete from people.people where user_id = $1 returning address_hash),
           known as (select address_hash from gone union select address_hash from people.tokens where user_id = $1),
           sessions as (delete from people.sessions where user_id = $1),
           passkeys as (delete from people.passkeys where user_id = $1),
           ends as (delete from people.ended_sessions where user_id = $1),
           tokens as (delete from people.tokens where user_id = $1 or address_hash in (select address_hash from known)),
           orders as (delete from people.mail_orders where user_id = $1 or address_hash in (select address_hash from known)),
           orgs as (delete from people.user_orgs where user_id = $1),
           links as (delete from people.approval_links where user_id = $1 returning mail)
      delete from people.outbox
       where address_hash in (select address_hash from known) or id in (select mail from links)`;
    await answered(this.pool.query(statement, [user]));
  }
}

const invitationPlace = (user: UserId, org: OrgId): string => `${user}:${org}`;
