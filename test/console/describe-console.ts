import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe } from 'vitest';
import { CHROMIUM, launchChromium, NO_CHROMIUM } from '../browser/chromium.js';
import { ConsoleScene } from './console-scene.js';
import { inWindowOf, type WindowSize } from './whole-screen.js';

export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const;
export const DESK = { viewport: { width: 1440, height: 900 } } as const;

/** The browser and the scene of the test file that runs; set before its first test. */
export let browser: Browser;
export let scene: ConsoleScene;

interface Told {
  readonly title: string;
  /** The service's port, for tests that start it again on the same one. */
  readonly port: () => Promise<number>;
}

/**
 * Registers tests of the Console in Chromium, which share one service for the whole file. Skipped if there is no
 * Chromium.
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

/** Runs a test in a browser window of its own, which fails if the page reports an error or a policy violation. */
export const inWindow = (email: string, size: WindowSize, work: (page: Page) => Promise<void>): Promise<void> =>
  inWindowOf(scene, email, size, work);
