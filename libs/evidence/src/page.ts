import type { Named } from './names.js';
import { quoted, visible } from './value-text.js';

/** A line of facts, a block of lines, or a list of pages below a heading: what a text and an HTML page are made of. */
export type Part =
  | { readonly part: 'fact'; readonly label: string; readonly value: string; readonly isUnproven: boolean }
  | { readonly part: 'block'; readonly label: string; readonly lines: readonly string[] };

export interface Section {
  readonly heading: string;
  readonly parts: readonly Part[];
}

/** A page to be read: the same for the terminal and for a browser. */
export interface Page {
  readonly title: string;
  readonly subtitle: string;
  readonly sections: readonly Section[];
}

const UNPROVEN_MARK = '*';

export const UNPROVEN_NAMES = `${UNPROVEN_MARK} The name is the word of the service: no deed of this bundle holds it. The id is sealed.`;

export const fact = (label: string, value: string | null | undefined): Part[] =>
  value === null || value === undefined || value === '' ? [] : [{ part: 'fact', label, value, isUnproven: false }];

/** Whom or what it names, with words around the name. */
export const namedFact = (label: string, named: Named | null, before = '', behind = ''): Part[] =>
  named === null
    ? []
    : [{ part: 'fact', label, value: `${before}${namedText(named)}${behind}`, isUnproven: isUnproven(named) }];

const isUnproven = ({ name, isProven }: Named): boolean => name !== null && !isProven;

/** Whether a name stands on the page that no deed of the bundle holds. */
export const hasUnprovenNames = ({ sections }: Page): boolean =>
  sections.some(({ parts }) => parts.some((part) => part.part === 'fact' && part.isUnproven));

export const block = (label: string, lines: readonly string[] | null): Part[] =>
  lines === null ? [] : [{ part: 'block', label, lines }];

/** `refund-bot (agt_…)`; `"refund-bot"* (agt_…)` where the name is the word of the service: it may hold anything, also brackets and a mark. */
export const namedText = ({ id, name, isProven }: Named): string =>
  name === null ? visible(id) : `${isProven ? visible(name) : `${quoted(name)}${UNPROVEN_MARK}`} (${id})`;
