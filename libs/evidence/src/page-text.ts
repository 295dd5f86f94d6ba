import { hasUnprovenNames, type Page, type Part, UNPROVEN_NAMES } from './page.js';

/** The page for a terminal. */
export const textOfPage = (page: Page): string =>
  [
    page.title,
    page.subtitle,
    ...page.sections.flatMap(({ heading, parts }) => ['', heading, ...textOfParts(parts)]),
    ...(hasUnprovenNames(page) ? ['', UNPROVEN_NAMES] : []),
  ].join('\n');

const textOfParts = (parts: readonly Part[]): readonly string[] => {
  const labels = parts.flatMap((part) => (part.part === 'fact' ? [part.label.length] : []));
  const width = Math.max(0, ...labels);
  return parts.flatMap((part) =>
    part.part === 'fact'
      ? [`  ${part.label.padEnd(width)}  ${part.value}`]
      : [`  ${part.label}:`, ...part.lines.map((line) => `    ${line}`)],
  );
};
