import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { accessibilityFaults } from '../browser/accessibility-faults.js';
import { eventually } from '../http/edge-client.js';
import type { ConsoleScene } from './console-scene.js';

/** A folder to save pictures to, for people to look at. Without it, no pictures are taken. */
const PICTURES = process.env['CONSOLE_PICTURES'];

const ALL_LOOKS = [
  { width: 390, height: 844, colorScheme: 'light', hasTouch: true },
  { width: 390, height: 844, colorScheme: 'dark', hasTouch: true },
  { width: 1440, height: 900, colorScheme: 'light', hasTouch: false },
  { width: 1440, height: 900, colorScheme: 'dark', hasTouch: false },
] as const;

export type Look = (typeof ALL_LOOKS)[number];

/**
 * The sizes and themes to test a screen in: each width and each theme once, or all four combinations if pictures are
 * taken.
 */
export const LOOKS: readonly Look[] =
  PICTURES === undefined
    ? ALL_LOOKS.filter(({ width, colorScheme }) => (width === 390) === (colorScheme === 'dark'))
    : ALL_LOOKS;

export const windowOf = ({ width, height, colorScheme, hasTouch }: Look) => ({
  viewport: { width, height },
  colorScheme,
  hasTouch,
  isMobile: hasTouch,
});

/**
 * Waits until the page is loaded, takes its picture, and expects no fault that axe finds and no page wider than the
 * window.
 */
export const judgeWhole = async (page: Page, name: string, { width, colorScheme }: Look): Promise<void> => {
  await eventually(() => page.locator('[aria-label="Loading"]').count()).toBe(0);
  if (PICTURES !== undefined) {
    mkdirSync(PICTURES, { recursive: true });
    await page.screenshot({ path: join(PICTURES, `${name}-${width}-${colorScheme}.png`), fullPage: true });
  }
  expect.soft(await accessibilityFaults(page), name).toEqual([]);
  expect.soft(await page.evaluate('document.documentElement.scrollWidth'), name).toBe(width);
};

export type WindowSize = Parameters<ConsoleScene['window']>[1];

/** Runs a test in a browser window of its own, and expects no error and no policy violation in it. */
export const inWindowOf = async (
  scene: ConsoleScene,
  email: string,
  size: WindowSize,
  work: (page: Page) => Promise<void>,
): Promise<void> => {
  const { context, page, complaints } = await scene.window(email, size);
  try {
    await work(page);
    // Requests that are still held by a route are let go, since no test waits for them.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  } finally {
    await context.close();
  }
  expect(complaints).toEqual([]);
};
