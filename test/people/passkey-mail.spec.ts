import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { derivedId } from '#libs/domain/kernel';
import { organizationDecider, requireMailAddress } from '#libs/domain/people';
import { PeopleInstances } from '../support/people-instances.js';

let instances: PeopleInstances;

beforeAll(async () => {
  instances = await PeopleInstances.start();
});
afterAll(() => instances?.close());

/** A registration by the owner, step by step, as the handler does it. */
const registration = async (name: string) => {
  const { first, org, owner } = instances;
  const metadata = instances.as(owner);
  const passkey = derivedId('pky', metadata.commandId);
  const address = requireMailAddress(`${name}@example.com`);
  const credential = { credential: metadata.commandId, alg: -7, publicKey: 'key', rpId: 'ags.example.com' } as const;
  const { ownerMembership: membership } = await ownership();
  return {
    order: () =>
      first.people.orders.orderPasskeyMail({
        ...{ id: passkey, address, user: owner, org, membership },
        ...{ command: metadata.commandId, name, requestedAtMs: first.clock.nowMs() },
      }),
    register: () =>
      first.runner.run(
        organizationDecider,
        org,
        { type: 'RegisterPasskey', data: { passkey, ...credential }, metadata },
        metadata,
      ),
    remove: () => {
      const later = instances.as(owner);
      return first.runner.run(
        organizationDecider,
        org,
        { type: 'RemovePasskey', data: { passkey }, metadata: later },
        later,
      );
    },
    mail: () => instances.mailTo(address.spelling),
  };
};

const ownership = async () => {
  const state = await instances.first.members().organization(instances.org);
  const [ownerMembership] = [...state.members.keys()];
  if (ownerMembership === undefined) throw new Error('no owner');
  return { ownerMembership };
};

describe('the mail about a new passkey', () => {
  it('is not written before the passkey is registered, and once then', async () => {
    const { order, register, mail } = await registration('first');
    await order();
    await expect(mail()).rejects.toThrow('no mail');
    await register();
    expect((await mail()).text).toContain('The passkey "first" was added');
    expect(await instances.first.people.desk.notices(10)).toEqual([]);
  });

  it('is written also where the passkey was removed before anybody looked', async () => {
    const { order, register, remove, mail } = await registration('second');
    await order();
    await register();
    await remove();
    expect((await mail()).text).toContain('The passkey "second" was added');
  });
});
