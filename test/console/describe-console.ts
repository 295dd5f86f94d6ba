import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe } from 'vitest';
import { CHROMIUM, launchChromium, NO_CHROMIUM } from '../browser/chromium.js';
import { ConsoleScene } from './console-scene.js';
import { inWindowOf, type WindowSize } from './whole-screen.js';

export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const;
export const DESK = { viewport: { width: 1440, height: 900 } } as const;

/** Of the tests of a file, from the first of them on. */
export let browser: Browser;
export let scene: ConsoleScene;

interface Told {
  readonly title: string;
  /** Of the service, where it is to be the same after `scene.startAgain`. */
  readonly port: () => Promise<number>;
}

/**
 * Tests of the Console in Chromium, with one service for all of a file: what they register runs after its start and before its
 * end. Skipped where there is no Chromium.
 */
export const describeConsole = (about: string | Told, tests: () => void): void => {
  const { title, port } = typeof about === 'string' ? { title: about, port: undefined } : about;
  describe.skipIf(CHROMIUM === null)(`${title} (${CHROMIUM ?? NO_CHROMIUM})`, () => {
    beforeAll(async () => {
      browser = await launchChromium();
      scene = await ConsoleScene.start(browser, await port?.());
    });
    afterAll(async () => {
      await browser?.close();
      await scene?.close();
    });
    tests();
  });
};

/** Runs in a window of its own, which must have had nothing to complain of. */
export const inWindow = (email: string, size: WindowSize, work: (page: Page) => Promise<void>): Promise<void> =>
  inWindowOf(scene, email, size, work);
