import type { UserId } from '../kernel/index.js';
import { addressesIn, type PeopleDirectory } from '../people/index.js';

/** Whom a call runs for: what the agent said of it, and who has the address that it said. */
export interface CalledFor {
  readonly reference: string;
  readonly persons: readonly UserId[];
}

/**
 * Where the reference holds no address nobody is asked. Read anew for each decision: an address may be another person's by then.
 * @throws {StoreUnavailable} who has the address cannot be known, so nobody may decide either
 */
export const calledFor = (
  people: Pick<PeopleDirectory, 'usersAt'>,
  reference: string | null,
): Promise<CalledFor> | CalledFor | null => {
  if (reference === null) return null;
  const addresses = addressesIn(reference);
  if (addresses.length === 0) return { reference, persons: [] };
  return people.usersAt(addresses).then((persons) => ({ reference, persons }));
};

/** The same as far as one person is concerned, whose address is known already. */
export const calledForAmong = (
  reference: string | null,
  reader: { readonly user: UserId; readonly address: string | undefined } | null,
): CalledFor | null => {
  if (reference === null) return null;
  const isReaders = addressesIn(reference).some(({ normal }) => normal === reader?.address?.toLowerCase());
  return { reference, persons: reader !== null && isReaders ? [reader.user] : [] };
};
