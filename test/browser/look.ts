import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { accessibilityFaults } from './accessibility-faults.js';

/** A phone and a desktop screen, one in each theme. */
export const LOOKS = [
  { width: 360, height: 740, colorScheme: 'light' },
  { width: 1280, height: 800, colorScheme: 'dark' },
] as const;

/** The options that pages are opened with: the narrow look, in which the least fits. */
export const OPENED = { viewport: LOOKS[0], colorScheme: LOOKS[0].colorScheme };

/** A folder to save a picture of every step to, for people to look at. Without it, no pictures are taken. */
const PICTURES = process.env['SIGN_IN_PICTURES'];

/**
 * Checks the present page in each of LOOKS: no fault that axe finds, no page wider than the window. Takes a picture.
 */
export const lookAt = async (page: Page, name: string): Promise<void> => {
  for (const { width, height, colorScheme } of LOOKS.toReversed()) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    // During a transition a colour has neither of its two values, so the transitions end first.
    await page.evaluate('Promise.all(document.getAnimations().map(({ finished }) => finished)).then(() => null)');
    expect(await accessibilityFaults(page), `${name} at ${width}`).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth'), `${name} at ${width}`).toBe(width);
    if (PICTURES === undefined) continue;
    mkdirSync(PICTURES, { recursive: true });
    await page.screenshot({ path: join(PICTURES, `${name}-${width}.png`), fullPage: true });
  }
};
