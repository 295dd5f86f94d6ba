/** Opens each screen once in Firefox; all other tests use Chromium. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, launchChromium } from '../browser/chromium.js';
import { Firefox, FIREFOX, type FirefoxTab, NO_FIREFOX } from '../browser/firefox.js';
import { eventually } from '../http/edge-client.js';
import { ConsoleScene, OWNER } from './console-scene.js';

const SCREENS = [
  'Overview',
  'Actions',
  'Approvals',
  'Agents',
  'Policies',
  'Connectors',
  'Insights',
  'Deeds',
  'Settings',
];
/** The first section of the settings, whose name is their heading. */
const FIRST_SECTION = 'Organization';
const DEADLINE_MS = 180_000;
const PICTURES = process.env['CONSOLE_PICTURES'];
/** Collects the page's errors and violations of the content policy. */
const LISTEN = `
  window.complaints = [];
  addEventListener('securitypolicyviolation', (event) => complaints.push(event.violatedDirective + ' ' + event.blockedURI));
  addEventListener('error', (event) => complaints.push(event.message));
  addEventListener('unhandledrejection', (event) => complaints.push(String(event.reason)));
`;

let chromium: Browser;
let firefox: Firefox;
let scene: ConsoleScene;
let tab: FirefoxTab;

// Chromium is needed to sign in; other tests cover the sign-in pages themselves.
describe.skipIf(FIREFOX === null || CHROMIUM === null)(`the Console in Firefox (${FIREFOX ?? NO_FIREFOX})`, () => {
  beforeAll(async () => {
    [chromium, firefox] = await Promise.all([launchChromium(), Firefox.launch()]);
    scene = await ConsoleScene.start(chromium);
    await scene.act('crm.get_customer', { id: '1' });
    await scene.ask('crm.add_note', { id: '2', note: 'x' });
    const { context } = await scene.window(OWNER);
    tab = await firefox.tab((await context.storageState()).cookies, LISTEN);
    await tab.resize(1_440, 900);
    await context.close();
  }, DEADLINE_MS);
  afterAll(async () => {
    await firefox?.close();
    await chromium?.close();
    await scene?.close();
  });

  it.each(SCREENS)('shows %s without a violation of the content policy', async (name) => {
    await tab.goto(scene.url(name === 'Overview' ? '/app' : `/app/${name.toLowerCase()}`));
    await eventually(() => tab.evaluate("document.querySelector('h1')?.innerText ?? ''")).toContain(
      name === 'Settings' ? FIRST_SECTION : name,
    );
    await eventually(() => tab.evaluate("String(document.querySelectorAll('[aria-label=Loading]').length)")).toBe('0');
    if (PICTURES !== undefined) {
      mkdirSync(PICTURES, { recursive: true });
      writeFileSync(join(PICTURES, `firefox-${name.toLowerCase()}.png`), await tab.picture());
    }
    expect(await tab.evaluate('JSON.stringify(complaints)')).toBe('[]');
    expect(await tab.evaluate('String(document.documentElement.scrollWidth <= innerWidth)')).toBe('true');
  });

  it('receives the event stream', async () => {
    await tab.goto(scene.url('/app/actions'));
    await eventually(() => tab.evaluate("document.querySelector('header [data-status]').dataset.status")).toBe('live');
    await scene.act('crm.get_customer', { id: '3' });
    await eventually(() => tab.evaluate('document.body.innerText')).toMatch(/\b1 new\b/);
  });
});
