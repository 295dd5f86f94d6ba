import { readMailAddress, type MailAddress } from './mail-address.js';
import type { Membership } from './membership.js';

/** Where one part of a reference ends and another begins: `mailto:…`, `user:…`, `urn:…`, `/users/…`, `id=…`. */
const BORDER = /[:/=]/;
/** What follows the `@` of an address as far as it can be one; a dot at its end is the root of names and says nothing. */
const DOMAIN = /^[A-Za-z0-9.-]+/;

/**
 * Whether a reference that an agent sent names this member: by a reference that an owner set, by the id of the person or of the
 * membership. However it is spelled, and whatever stands before or behind it: who asks for something must not be taken for another by
 * an upper-case letter or a `mailto:`.
 */
export const isNamedBy = (
  { user, membership, references }: Pick<Membership, 'user' | 'membership' | 'references'>,
  reference: string,
): boolean => {
  const spelled = reference.toLowerCase();
  return [user, membership, ...references].some((name) => standsIn(spelled, name.toLowerCase()));
};

/** Whether a name stands in a text with a border, or an end of the text, at either side of it. */
const standsIn = (text: string, name: string): boolean => {
  const isEdge = (character: string | undefined): boolean => character === undefined || BORDER.test(character);
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    if (isEdge(text[at - 1]) && isEdge(text[at + name.length])) return true;
  }
  return false;
};

/** Every address that a reference can be read as naming, in any of its spellings; none in most. */
export const addressesIn = (reference: string): readonly MailAddress[] => {
  const found = new Map<string, MailAddress>();
  for (let at = reference.indexOf('@'); at >= 0; at = reference.indexOf('@', at + 1)) {
    const domain = (DOMAIN.exec(reference.slice(at + 1))?.[0] ?? '').replace(/\.+$/, '');
    const before = reference.slice(reference.lastIndexOf('@', at - 1) + 1, at);
    for (const local of endsOf(before)) {
      const address = readMailAddress(`${local}@${domain}`);
      if (address !== null) found.set(address.normal, address);
    }
  }
  return [...found.values()];
};

/** A text and what is left of it behind each border, since nobody knows which part is the name. */
const endsOf = (text: string): readonly string[] => [
  text,
  ...[...text].flatMap((character, index) => (BORDER.test(character) ? [text.slice(index + 1)] : [])),
];
