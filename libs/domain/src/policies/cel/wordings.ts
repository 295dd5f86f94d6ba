import type { CelType } from './types.js';

/** What may stand in brackets after a value that has items. */
export const INDEXED_WITH: Readonly<Partial<Record<CelType['kind'], string>>> = {
  list: 'an int',
  map: 'a string',
  record: 'the name of one of its fields as a literal string',
};

export const TEXT_PARTS_HINT = 'Test a part of a string with startsWith(), endsWith(), contains() or matches().';

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
