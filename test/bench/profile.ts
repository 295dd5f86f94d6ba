/** Of what a figure was measured (docs/glossary.md, profile). */
export const PROFILES = ['embedded', 'distributed'] as const;
export type Profile = (typeof PROFILES)[number];
