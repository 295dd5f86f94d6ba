import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Result } from 'axe-core';
import type { Page } from 'playwright-core';

/** Half as large as the package's `source`, which a page would parse anew each time. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Nothing but the faults is gathered and sent, because a page has some thousand nodes that pass. */
const FAULTS = `axe.run({ resultTypes: ['violations'] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => [id, nodes.map(({ html, any }) => [html, any[0]?.message ?? ''].join(': '))]))`;

type AccessibilityFault = readonly [rule: Result['id'], elements: readonly string[]];

/** What axe finds in the present page: each rule that is broken, with the elements that break it. */
export const accessibilityFaults = async (page: Page): Promise<readonly AccessibilityFault[]> => {
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(AXE);
  return page.evaluate<readonly AccessibilityFault[]>(FAULTS);
};
