import { expect, it } from 'vitest';
import { mayMail } from './mail-share.js';
import { MAILS_OF_ALL_SITES, MAILS_OF_STRANGERS, MAILS_PER_HOUR } from './session-limits.js';

const strangers = { isFamiliar: false };

it('gives one site five mails to an address in an hour, a familiar one too', () => {
  const [fourth, fifth] = [MAILS_PER_HOUR - 1, MAILS_PER_HOUR];
  expect(mayMail({ ...strangers, ofSite: fourth, ofAllSites: fourth })).toBe(true);
  expect(mayMail({ ...strangers, ofSite: fifth, ofAllSites: fifth })).toBe(false);
  expect(mayMail({ isFamiliar: true, ofSite: fifth, ofAllSites: fifth })).toBe(false);
});

it('lets no site use up what another one has', () => {
  expect(mayMail({ ...strangers, ofSite: 0, ofAllSites: MAILS_PER_HOUR })).toBe(true);
  expect(mayMail({ ...strangers, ofSite: 1, ofAllSites: MAILS_OF_ALL_SITES })).toBe(false);
  expect(mayMail({ ...strangers, ofSite: 0, ofAllSites: MAILS_OF_ALL_SITES })).toBe(true);
});

it('bounds what a mailbox gets from many sites, but for those where the person is signed in', () => {
  expect(mayMail({ ...strangers, ofSite: 0, ofAllSites: MAILS_OF_STRANGERS })).toBe(false);
  expect(mayMail({ isFamiliar: true, ofSite: 0, ofAllSites: MAILS_OF_STRANGERS })).toBe(true);
  expect(mayMail({ isFamiliar: true, ofSite: 4, ofAllSites: MAILS_OF_STRANGERS + 4 })).toBe(true);
});
