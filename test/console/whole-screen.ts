import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { eventually } from '../http/edge-client.js';
import type { ConsoleScene } from './console-scene.js';

/** A folder for pictures, for people's eyes. None is taken where it is not set. */
const PICTURES = process.env['CONSOLE_PICTURES'];

const ALL_LOOKS = [
  { width: 390, height: 844, colorScheme: 'light', hasTouch: true },
  { width: 390, height: 844, colorScheme: 'dark', hasTouch: true },
  { width: 1440, height: 900, colorScheme: 'light', hasTouch: false },
  { width: 1440, height: 900, colorScheme: 'dark', hasTouch: false },
] as const;

export type Look = (typeof ALL_LOOKS)[number];

/** Widths and themes that a screen is looked at in: each width and each theme once, and all four where pictures are taken. */
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

/** Loaded, without a fault that axe knows, and no wider than the window; and a picture of it. */
export const judgeWhole = async (page: Page, name: string, { width, colorScheme }: Look): Promise<void> => {
  await eventually(() => page.locator('[aria-label="Loading"]').count()).toBe(0);
  if (PICTURES !== undefined) {
    mkdirSync(PICTURES, { recursive: true });
    await page.screenshot({ path: join(PICTURES, `${name}-${width}-${colorScheme}.png`), fullPage: true });
  }
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<axe.AxeResults>('axe.run()');
  const found = violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
  expect.soft(found, name).toEqual([]);
  expect.soft(await page.evaluate('document.documentElement.scrollWidth'), name).toBe(width);
};

export type WindowSize = Parameters<ConsoleScene['window']>[1];

/** Runs in a window of its own, which must have had nothing to complain of. */
export const inWindowOf = async (
  scene: ConsoleScene,
  email: string,
  size: WindowSize,
  work: (page: Page) => Promise<void>,
): Promise<void> => {
  const { context, page, complaints } = await scene.window(email, size);
  try {
    await work(page);
    // What is still held on its way is nobody's any more.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  } finally {
    await context.close();
  }
  expect(complaints).toEqual([]);
};
