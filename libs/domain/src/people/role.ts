/** Each may do all that the ones before it may (rule PEOPLE-1). */
export const ROLES = ['viewer', 'admin', 'owner'] as const;
export type Role = (typeof ROLES)[number];

export const isRole = (text: unknown): text is Role => (ROLES as readonly unknown[]).includes(text);

export const isAtLeast = (role: Role, lowest: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(lowest);
