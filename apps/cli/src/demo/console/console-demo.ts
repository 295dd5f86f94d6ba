import { setTimeout as sleep } from 'node:timers/promises';
import type { Terminal } from '../../terminal.js';
import type { Closing } from '../closing.js';
import { MAIL } from '../printed-mails.js';
import { ScratchService } from '../scratch-service.js';
import { furnish } from './furniture.js';
import { InventedShop } from './invented-shop.js';
import { OWNER, PeopleOfTheDemo } from './people-of-the-demo.js';
import { DAY_MS, DAYS, TwoWeeks } from './two-weeks.js';

/** Between what agents do while a visitor looks. */
const EVERYDAY_MS = 6_000;
const LOOK_AGAIN_MS = 1_000;

export interface ConsoleDemoParts {
  readonly terminal: Terminal;
  readonly closing: Closing;
  /** Of the service. */
  readonly environment: Readonly<Record<string, string>>;
  readonly logFile: string;
}

/** A scratch service with two weeks of an invented company behind it, for whoever looks at the Console. Never ends by itself. */
export const showConsole = async (parts: ConsoleDemoParts): Promise<never> => {
  const { terminal, closing } = parts;
  terminal.err('Starting a scratch service, two weeks ago ...\n');
  const { service, weeks, people } = await furnished(parts);
  await weeks.play((day) => terminal.err(`\rDay ${day} of ${DAYS} ...`));
  await service.moveClock(0);
  const link = await people.link(OWNER);
  const seen = service.printed.length;
  terminal.err('\n');
  terminal.out(welcome(service.url, link));
  await Promise.all([goingOn(weeks, closing), mailsShown(service, terminal, seen)]);
  return new Promise<never>(() => undefined);
};

const furnished = async ({ closing, environment, logFile }: ConsoleDemoParts) => {
  const endMs = Date.now();
  const shop = new InventedShop();
  closing.add(() => shop.close());
  const service = new ScratchService(environment, logFile, { clockShiftMs: -DAYS * DAY_MS });
  closing.add(() => service.stop());
  await service.start();
  const [, adminKey = ''] = /admin key\s+(\S+)/.exec(await service.firstSecrets()) ?? [];
  const people = new PeopleOfTheDemo(service);
  await people.begin();
  const moveTo = (ms: number): Promise<void> => service.moveClock(ms - Date.now());
  const stage = { service, adminKey, furnished: await furnish(service, adminKey, await shop.open()), people, moveTo };
  return { service, weeks: new TwoWeeks(stage, endMs), people };
};

const welcome = (url: string, link: string): string =>
  [
    '',
    `  Two weeks of Nordlicht Outdoor, a shop that does not exist, are at ${url}/app`,
    '',
    '  Sign in as one of its owners, once, within 15 minutes:',
    `  ${link}`,
    '',
    `  For another link, ask at ${url}/login as ${OWNER}: mails are printed here.`,
    '  Agents go on working meanwhile. Ctrl-C ends it, and nothing of it stays.',
    '',
    '',
  ].join('\n');

/** Something happens while a visitor looks. */
const goingOn = async (weeks: TwoWeeks, closing: Closing): Promise<void> => {
  while (!closing.isRunning) {
    await weeks.everyday().catch(() => null);
    await sleep(EVERYDAY_MS);
  }
};

/** Sign-in mails that the visitor asks for. */
const mailsShown = async (service: ScratchService, terminal: Terminal, from: number): Promise<void> => {
  for (let seen = from; ; await sleep(LOOK_AGAIN_MS)) {
    const begin = seen;
    const printed = service.printed.slice(begin);
    for (const { 0: mail, index } of printed.matchAll(MAIL)) {
      if (/\/auth\/confirm#token=/.test(mail)) terminal.out(mail);
      seen = begin + index + mail.length;
    }
  }
};
