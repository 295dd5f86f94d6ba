import { hasUnprovenNames, type Page, type Part, UNPROVEN_NAMES } from './page.js';

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');

/** The page as the content of `main`. */
export const htmlOfPage = (page: Page): string =>
  [
    `<h1>${escapeHtml(page.title)}</h1>`,
    `<p class="sub">${escapeHtml(page.subtitle)}</p>`,
    ...page.sections.map(
      ({ heading, parts }) =>
        `<section><h2>${escapeHtml(heading)}</h2>\n<dl>\n${parts.map(htmlOfPart).join('\n')}\n</dl></section>`,
    ),
    ...(hasUnprovenNames(page) ? [`<p class="sub">${escapeHtml(UNPROVEN_NAMES)}</p>`] : []),
  ].join('\n');

const htmlOfPart = (part: Part): string =>
  part.part === 'fact'
    ? `<dt>${escapeHtml(part.label)}</dt><dd>${escapeHtml(part.value)}</dd>`
    : `<dt>${escapeHtml(part.label)}</dt><dd><pre>${escapeHtml(part.lines.join('\n'))}</pre></dd>`;
