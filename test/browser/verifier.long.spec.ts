import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  KeySetError,
  parsePublishedKeySet,
  type SealKeyEntry,
  type BundleVerdict,
  encodePolicy,
  encodeVkey,
  verifyBundle,
  type VerifyOptions,
} from '#libs/crypto';
import { pageOfVerdict, textOfPage } from '#libs/evidence';
import { ATTACKS, HONEST_OPTIONS, honestBundle } from '../../libs/crypto/src/testing/bundle-attacks.js';
import { bundleOf, contentOf, givenChain, streamOf } from '../../libs/crypto/src/testing/given-chain.js';
import { WITNESSED_ATTACKS } from '../../libs/crypto/src/testing/witnessed-attacks.js';
import { ROOT } from '../support/service.js';
import { CHROMIUM, launchChromium, NO_CHROMIUM } from './chromium.js';
import { FIREFOX, Firefox, NO_FIREFOX } from './firefox.js';
import { lookAt, OPENED } from './look.js';

const PAGE = join(ROOT, 'dist', 'verify.html');

/** As it stands in the answer of GET /verify.html. Small enough to be sent in a mail. */
const MAX_PAGE_BYTES = 200_000;

interface Ran {
  readonly bytes: Buffer;
  readonly options: VerifyOptions;
}

interface Sent {
  readonly base64: string;
  readonly keySet: string | null;
  readonly policy: string | null;
  readonly plain: object;
}

const asSent = ({ bytes, options: { org, pins, heads, keySet, checkpointKeys, witnesses } }: Ran): Sent => ({
  base64: bytes.toString('base64'),
  keySet: keySet === undefined ? null : JSON.stringify({ object: 'seal_key_set', keys: keySet }),
  policy: witnesses === undefined ? null : Buffer.from(encodePolicy(witnesses)).toString(),
  plain: { org, pins: [...pins], heads: [...(heads ?? [])], checkpointKeys: (checkpointKeys ?? []).map(encodeVkey) },
});

/** A key set that none is comes into no verdict: the command line and the page refuse to begin. */
const isKeySet = (keys: readonly SealKeyEntry[]): boolean => {
  try {
    return parsePublishedKeySet(Buffer.from(JSON.stringify({ object: 'seal_key_set', keys }))).length > 0;
  } catch (error) {
    if (error instanceof KeySetError) return false;
    throw error;
  }
};

/** An expression for a browser: what the page's own thread says of each of these bundles, without the page. */
const verdictsOf = (given: readonly Sent[]): string => `(async () => {
  const script = document.querySelector('script').textContent;
  const judge = new Worker(URL.createObjectURL(new Blob([script])));
  const file = (text) => (text === null ? null : new Blob([text]));
  const verdicts = [];
  for (const { base64, keySet, policy, plain } of ${JSON.stringify(given)}) {
    const bundle = new Blob([Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))]);
    const answered = new Promise((resolve, reject) => {
      judge.onmessage = ({ data }) => {
        if (data.said === 'verdict') resolve(data.verdict);
        if (data.said === 'failure') reject(new Error(data.message));
      };
    });
    judge.postMessage({ ask: 'verdict', given: { ...plain, bundle, keySet: file(keySet), policy: file(policy) } });
    verdicts.push(await answered);
  }
  judge.terminate();
  return JSON.stringify(verdicts);
})()`;

describe.skipIf(CHROMIUM === null)(`the page that verifies a bundle, from a disk (${CHROMIUM ?? NO_CHROMIUM})`, () => {
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let folder: string;
  /** Errors and violations of the content policy that the browser reported. */
  let complaints: string[];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'verifier-'));
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true });
  });
  beforeEach(async () => {
    context = await browser.newContext(OPENED);
    [page, complaints] = [await context.newPage(), []];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => complaints.push(message.text()));
    await page.goto(pathToFileURL(PAGE).href);
  });
  afterEach(async () => {
    const seen = complaints;
    await context.close();
    expect(seen).toEqual([]);
  });

  const given = async (bytes: Buffer, { org, pins }: VerifyOptions): Promise<void> => {
    const file = join(folder, 'deeds.tar.gz');
    writeFileSync(file, bytes);
    await page.getByLabel('Bundle (deeds.tar.gz)', { exact: false }).setInputFiles(file);
    await page.getByLabel('Organization whose chain').fill(org);
    await page.getByLabel('Fingerprints of the seal keys').fill(pins.join('\n'));
    await page.getByRole('button', { name: 'Verify' }).click();
  };

  const attacks = [...Object.values(ATTACKS), ...Object.values(WITNESSED_ATTACKS)]
    .flat()
    .filter(({ options }) => options?.keySet === undefined || isKeySet(options.keySet));

  it(`says of a good bundle and of each of ${attacks.length} attacked ones what the command line says`, async () => {
    const bundles: Ran[] = [{ bytes: await honestBundle(), options: HONEST_OPTIONS }];
    for (const { bytes, options } of attacks) {
      bundles.push({ bytes: await bytes(), options: { ...HONEST_OPTIONS, ...options } });
    }
    const expected = await Promise.all(bundles.map(({ bytes, options }) => verifyBundle(streamOf([bytes]), options)));
    const verdicts = JSON.parse(await page.evaluate<string>(verdictsOf(bundles.map(asSent)))) as BundleVerdict[];
    for (const [index, verdict] of verdicts.entries()) {
      expect(verdict, attacks[index - 1]?.name ?? 'a good one').toEqual(expected[index]);
    }
  });

  it('shows the verdict, then the deeds, then what one of them says', async () => {
    const bytes = await honestBundle();
    await given(bytes, HONEST_OPTIONS);
    await page.getByRole('heading', { name: /^Intact/ }).waitFor();
    const verdict = await verifyBundle(streamOf([bytes]), HONEST_OPTIONS);
    const words = (text: string): string => text.replace(/:?\s+/g, ' ').trim();
    expect(words(await page.getByRole('region', { name: 'Verdict' }).innerText())).toBe(
      words(textOfPage(pageOfVerdict(verdict, bytes))),
    );
    await page.getByRole('button', { name: 'crm.get_customer' }).first().click();
    await page.getByRole('heading', { name: 'Who asked, and for what' }).waitFor();
    await lookAt(page, 'verifier-intact');
  });

  it('says of a changed bundle which deed is at fault, and goes on with another one', async () => {
    const [attack] = ATTACKS['a line'] ?? [];
    await given((await attack?.bytes()) ?? Buffer.alloc(0), HONEST_OPTIONS);
    await page.getByRole('heading', { name: /^Broken at seq/ }).waitFor();
    await lookAt(page, 'verifier-broken');
    await given(await honestBundle(), HONEST_OPTIONS);
    await page.getByRole('heading', { name: /^Intact/ }).waitFor();
  });

  it('can be used while it reads a large bundle, and says how far it is', async () => {
    const deeds = givenChain(3_000);
    await given(await bundleOf(contentOf(deeds)), HONEST_OPTIONS);
    await page.getByText(/^Checked [12],000 of 3,000 deeds$/).waitFor();
    await page.getByLabel('Organization whose chain').fill('typed meanwhile');
    await page.getByRole('heading', { name: /^Intact/ }).waitFor({ timeout: 60_000 });
    await page.getByRole('row').nth(200).waitFor();
    expect(await page.getByRole('row').count()).toBe(201);
    await page.getByText('2,800 more', { exact: false }).waitFor();
  });
});

describe.skipIf(FIREFOX === null)(`the same page in Firefox (${FIREFOX ?? NO_FIREFOX})`, () => {
  let firefox: Firefox;
  beforeAll(async () => {
    firefox = await Firefox.launch();
  });
  afterAll(() => firefox?.close());

  it('says of a good bundle and of attacked ones what the command line says', async () => {
    const attacks = Object.values(ATTACKS).flatMap((group) => group.slice(0, 2));
    const bundles: Ran[] = [{ bytes: await honestBundle(), options: HONEST_OPTIONS }];
    for (const { bytes, options } of attacks)
      bundles.push({ bytes: await bytes(), options: { ...HONEST_OPTIONS, ...options } });
    const tab = await firefox.tab([], '');
    await tab.goto(pathToFileURL(PAGE).href);
    const said = await tab.evaluate(verdictsOf(bundles.map(asSent)));
    const expected = await Promise.all(bundles.map(({ bytes, options }) => verifyBundle(streamOf([bytes]), options)));
    expect(JSON.parse(said)).toEqual(expected);
  });
});

it('is one file of less than 200 kB that asks no address', () => {
  expect(statSync(PAGE).size).toBeLessThan(MAX_PAGE_BYTES);
  const { stdout } = spawnSync('grep', ['-o', `http-equiv="Content-Security-Policy" content="[^;]*`, PAGE], {
    encoding: 'utf8',
  });
  expect(stdout).toContain("default-src 'none'");
});
