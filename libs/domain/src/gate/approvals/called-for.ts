import type { UserId } from '../../kernel/index.js';
import { addressesIn, type PeopleDirectory } from '../../people/index.js';

/**
 * On whose behalf a call runs: the reference that the agent sent, and the persons whose e-mail addresses it contains.
 */
export interface CalledFor {
  readonly reference: string;
  readonly persons: readonly UserId[];
}

/**
 * Looks up the persons whose addresses are in the reference; if it contains no address, there is no look-up. The result
 * must not be cached from one decision to the next, because an address may have passed to another person.
 * @throws {StoreUnavailable} if the addresses cannot be looked up; then nobody may decide
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

/** The same for one person only, whose address is already known: no look-up. */
export const calledForAmong = (
  reference: string | null,
  reader: { readonly user: UserId; readonly address: string | undefined } | null,
): CalledFor | null => {
  if (reference === null) return null;
  const isReaders = addressesIn(reference).some(({ normal }) => normal === reader?.address?.toLowerCase());
  return { reference, persons: reader !== null && isReaders ? [reader.user] : [] };
};
