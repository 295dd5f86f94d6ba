import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { isRoot } from '../support/as-stranger.js';

/** Where Debian, other distributions and Google put it. First the one without a window, which takes half the time for a page. */
const PLACES = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/** The browser of the tests: what $CHROMIUM names, else the one that is installed; null where there is none. */
export const CHROMIUM = process.env['CHROMIUM'] ?? PLACES.find((path) => existsSync(path)) ?? null;

export const NO_CHROMIUM = 'needs chromium: install it, or name one by CHROMIUM';

/** Root cannot have Chromium's sandbox; the pages are our own. */
export const launchChromium = async (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM ?? '', chromiumSandbox: !isRoot });
