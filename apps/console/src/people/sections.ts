import { WEBHOOK_ID_PATTERN } from '../kernel/contract.ts';
import type { Role } from '../kernel/roles.ts';

export interface Section {
  /** The part of the address after /app/settings/. */
  readonly id: string;
  readonly name: string;
  readonly about: string;
  /** The role that is needed to read the section. */
  readonly role: Role;
}

export const SECTIONS = [
  {
    id: 'organization',
    name: 'Organization',
    about: 'Name, time zone, approval settings, retention and API version.',
    role: 'viewer',
  },
  { id: 'members', name: 'Members', about: 'People in this organization and their roles.', role: 'viewer' },
  {
    id: 'admin-keys',
    name: 'Admin keys',
    about: 'For programs that set up agents, policies and connectors. An admin key can do what an admin can do.',
    role: 'admin',
  },
  {
    id: 'webhooks',
    name: 'Webhooks',
    about: 'Signed events delivered to your systems, with retries.',
    role: 'admin',
  },
  {
    id: 'witnesses',
    name: 'Witnesses',
    about: 'Machines of others that cosign the ledger, so that it cannot be written anew or shown in two versions.',
    role: 'viewer',
  },
  {
    id: 'sessions',
    name: 'Sessions and passkeys',
    about: 'Browsers and devices where you are signed in, and those that sign you in.',
    role: 'viewer',
  },
  { id: 'security', name: 'Security events', about: 'Sign-ins, keys, addresses and exports.', role: 'admin' },
  { id: 'about', name: 'About', about: 'Version of the service, and the seal keys.', role: 'viewer' },
] as const satisfies readonly Section[];

export type SectionId = (typeof SECTIONS)[number]['id'];

/** The section of an address; a webhook's page belongs to webhooks. Undefined if there is no such section. */
export const sectionOf = (place: string): (Section & { readonly id: SectionId }) | undefined =>
  SECTIONS.find(({ id }) => id === (WEBHOOK_ID_PATTERN.test(place) ? 'webhooks' : place));
