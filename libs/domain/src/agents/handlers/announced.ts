import { orgChannel, type Bus, type OrgId } from '../../kernel/index.js';

/** A change, and then the bell that ends waits early. What makes the change hold is the stream. */
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
