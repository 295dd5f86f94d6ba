import type { Role } from '../kernel/session.tsx';

export interface Section {
  /** As the address has it, behind /app/settings. */
  readonly id: string;
  readonly name: string;
  readonly about: string;
  /** Who may read what it shows. */
  readonly role: Role;
}

export const SECTIONS = [
  {
    id: 'organization',
    name: 'Organization',
    about: 'Its name and zone, how long bodies are kept, and how people are asked.',
    role: 'viewer',
  },
  { id: 'members', name: 'Members', about: 'Who works here, and what they may do.', role: 'viewer' },
  {
    id: 'admin-keys',
    name: 'Admin keys',
    about: 'For programs that set up agents, policies and connectors. An admin key may do what an admin may.',
    role: 'admin',
  },
  {
    id: 'webhooks',
    name: 'Webhooks',
    about: 'Your systems are told what happens, signed, and again until it arrives.',
    role: 'admin',
  },
  { id: 'sessions', name: 'Sessions', about: 'Where you are signed in.', role: 'viewer' },
  { id: 'security', name: 'Security events', about: 'Who signed in and out.', role: 'admin' },
  { id: 'about', name: 'About', about: 'What is running, and the keys that seal.', role: 'viewer' },
] as const satisfies readonly Section[];

export type SectionId = (typeof SECTIONS)[number]['id'];

const WEBHOOK = /^whk_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** The section of an address; a webhook's own page stands below webhooks. Undefined where there is none. */
export const sectionOf = (place: string): (Section & { readonly id: SectionId }) | undefined =>
  SECTIONS.find(({ id }) => id === (WEBHOOK.test(place) ? 'webhooks' : place));
