import { describe, expect, it, vi } from 'vitest';
import { MAIL_CHANNEL, type Logger } from '#libs/domain/kernel';
import { InProcessBus } from '#libs/infra/runtime';
import { MailLoop } from './mail-loop.js';

const HOUR_MS = 60 * 60 * 1000;

/** What the loop does, in order, while there are so many pages of approvals that nobody was written to about. */
const rung = async (pages: number, { fails = false, mails = 0 } = {}): Promise<readonly string[]> => {
  const done: string[] = [];
  let [pagesLeft, mailsLeft] = [pages, mails];
  const logger = { error: () => undefined } as unknown as Logger;
  const bus = new InProcessBus(logger);
  const loop = new MailLoop(
    {
      clerk: {
        write: async () => void done.push('orders'),
        send: async (limit = Infinity) => {
          done.push('send');
          const tried = Math.min(limit, mailsLeft);
          mailsLeft -= tried;
          return tried;
        },
      },
      approvals: {
        write: async () => {
          done.push('approvals');
          if (fails) throw new Error('The stream is damaged.');
          // Whoever signs in while the last page but one is written.
          if (pagesLeft === 2) bus.publish(MAIL_CHANNEL, '');
          pagesLeft = Math.max(0, pagesLeft - 1);
          return pagesLeft > 0;
        },
      },
      failures: { record: async () => void done.push('failures') },
      bus,
      logger,
    },
    HOUR_MS,
  );
  loop.start();
  let seen = -1;
  await vi.waitFor(
    () => {
      const isQuiet = done.length === seen;
      seen = done.length;
      expect(isQuiet).toBe(true);
    },
    { timeout: 20_000 },
  );
  await loop.stop();
  return done;
};

const DELIVERED = ['orders', 'send'];
const ROUND = [...DELIVERED, 'approvals', ...DELIVERED, 'failures'];

describe('the loop of the mails', () => {
  it('serves who signs in first, and sends what it wrote about approvals', async () =>
    expect(await rung(1)).toEqual(ROUND));

  it('serves who signs in before and after each page of approvals, and goes on by itself while there are more', async () =>
    expect((await rung(3)).slice(0, 3 * ROUND.length)).toEqual([...ROUND, ...ROUND, ...ROUND]));

  it('looks from the beginning again when it was rung in between', async () =>
    expect(await rung(3)).toHaveLength(4 * ROUND.length));

  it('looks for who signs in again before all that waits is sent', async () =>
    expect((await rung(1, { mails: 120 })).slice(0, ROUND.length + 1)).toEqual([...ROUND, 'orders']));

  it('serves who signs in though approvals cannot be read', async () =>
    expect(await rung(1, { fails: true })).toEqual(ROUND));
});
