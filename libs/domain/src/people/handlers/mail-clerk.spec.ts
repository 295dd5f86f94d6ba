import { describe, expect, it } from 'vitest';
import type { FoldedStreams } from '../../kernel/index.js';
import type { MailSender, WaitingMail } from '../people.ports.js';
import { MailClerk, type MailClerkParts } from './mail-clerk.js';

const NOW = 1_000;

/** What becomes of mails that wait, in order. */
const sending = async (
  ids: readonly string[],
  isStillOwed: MailClerkParts['isStillOwed'],
): Promise<readonly string[]> => {
  const done: string[] = [];
  const left = ids.map((id): WaitingMail => ({
    id,
    mail: { to: '', subject: '', text: '' },
    tries: 0,
    expiresAtMs: 2_000,
  }));
  const desk = {
    takeDue: async () => left.shift() ?? null,
    sent: async (id: string) => void done.push(`sent ${id}`),
    giveUp: async (id: string) => void done.push(`given up ${id}`),
  };
  const sender: MailSender = { send: async () => 'sent' };
  const parts = { desk, sender, isStillOwed } as unknown as MailClerkParts;
  const sources = { clock: { nowMs: () => NOW } } as unknown as ConstructorParameters<typeof MailClerk>[2];
  const clerk = new MailClerk({} as FoldedStreams, parts, sources, (token) => token);
  await clerk.send().catch((error: Error) => done.push(error.message));
  return done;
};

describe('sending what waits', () => {
  it('sends nothing that asks for what is over', async () =>
    expect(await sending(['a', 'b', 'c'], async (id) => id !== 'b')).toEqual(['sent a', 'given up b', 'sent c']));

  it('neither sends nor gives up what nobody can judge at the moment', async () =>
    expect(await sending(['a'], () => Promise.reject(new Error('the store is away')))).toEqual(['the store is away']));
});
