import { describe, expect, it } from 'vitest';
import { checkedChatAccounts, checkedReferences, checkedTimezone } from './checked-settings.js';

const refusedWith = (param: string) => expect.objectContaining({ code: 'validation_failed', param }) as Error;

describe('a time zone', () => {
  it.each(['UTC', 'Europe/Vienna', 'Asia/Kolkata', 'America/Argentina/Buenos_Aires', 'Etc/GMT+3'])(
    '%s is kept as it was sent',
    (zone) => expect(checkedTimezone(zone)).toBe(zone),
  );

  it.each(['', '+01:00', 'Europe/Nowhere', 'europe vienna', 'UTC\n', '../etc', `E${'u'.repeat(70)}`])(
    '%j is none',
    (zone) => expect(() => checkedTimezone(zone)).toThrow(refusedWith('timezone')),
  );
});

describe('references and chat accounts', () => {
  it('have their grammar, differ, and are bounded', () => {
    expect(checkedReferences(['u-1', 'jane@example.com'])).toHaveLength(2);
    expect(checkedChatAccounts(['slack:U012AB3CD'])).toHaveLength(1);
    for (const wrong of [[''], ['a b'], ['a', 'a'], Array.from({ length: 17 }, (_, index) => `u${index}`), ['ü']]) {
      expect(() => checkedReferences(wrong)).toThrow(refusedWith('references'));
    }
    for (const wrong of [
      ['slack'],
      ['Slack:U1'],
      ['slack:'],
      Array.from({ length: 9 }, (_, index) => `slack:${index}`),
    ]) {
      expect(() => checkedChatAccounts(wrong)).toThrow(refusedWith('chat_accounts'));
    }
  });
});
