import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { isRoot } from '../support/as-stranger.js';

/**
 * The paths at which Debian, other distributions and Google install it. The headless shell comes first, because it
 * loads a page in half the time.
 */
const PLACES = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/** The path of Chromium for tests: $CHROMIUM, else an installed one; null if there is none. */
export const CHROMIUM = process.env['CHROMIUM'] ?? PLACES.find((path) => existsSync(path)) ?? null;

export const NO_CHROMIUM = 'needs chromium: install it, or name one by CHROMIUM';

/**
 * Chromium's sandbox does not work as root. Without it is acceptable, because the tests open only pages of the service.
 */
export const launchChromium = async (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM ?? '', chromiumSandbox: !isRoot });
