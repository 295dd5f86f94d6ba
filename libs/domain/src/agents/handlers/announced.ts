import { orgChannel, type Bus, type OrgId } from '../../kernel/index.js';

/** Makes a change, and then rings the bell that ends waits early. It is the stream that makes the change hold. */
export const announced = async <Change>(
  change: Promise<Change>,
  bus: Bus,
  org: OrgId,
  what: 'agents' | 'keys' | 'organization',
): Promise<Change> => {
  const done = await change;
  bus.publish(orgChannel(org), what);
  return done;
};
