import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** What people hold in their hands and what stands on their desks. */
export const LOOKS = [
  { width: 360, height: 740, colorScheme: 'light' },
  { width: 1280, height: 800, colorScheme: 'dark' },
] as const;

/** What a page is opened in: narrow, where less fits. */
export const OPENED = { viewport: LOOKS[0], colorScheme: LOOKS[0].colorScheme };

/** A folder for pictures of every step, for people's eyes. None is taken where it is not set. */
const PICTURES = process.env['SIGN_IN_PICTURES'];

/** A step as it stands, in each of LOOKS: whole on the screen, without a fault that axe knows, and a picture of it. */
export const lookAt = async (page: Page, name: string): Promise<void> => {
  await page.evaluate(axe.source);
  for (const { width, height, colorScheme } of LOOKS.toReversed()) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    // A colour on its way to another is neither.
    await page.evaluate('Promise.all(document.getAnimations().map(({ finished }) => finished)).then(() => null)');
    const found = await page.evaluate<axe.AxeResults>('axe.run()');
    expect(
      found.violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]),
      `${name} at ${width}`,
    ).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth'), `${name} at ${width}`).toBe(width);
    if (PICTURES === undefined) continue;
    mkdirSync(PICTURES, { recursive: true });
    await page.screenshot({ path: join(PICTURES, `${name}-${width}.png`), fullPage: true });
  }
};
