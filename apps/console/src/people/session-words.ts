import type { Schemas } from '../kernel/client.ts';

const VIA: Readonly<Record<Schemas['Session']['via'], string>> = {
  link: 'with a mail link',
  code: 'with a mail code',
  invite: 'with an invitation',
  org_switch: 'by switching organizations',
};

const WHY: Readonly<Record<NonNullable<Schemas['SecurityEvent']['why']>, string>> = {
  signed_out: 'signed out',
  everywhere: 'signed out everywhere',
  ended: 'session ended from another session',
  switched: 'switched to another organization',
  address_set: 'session ended, because an operator changed the address',
};

export const viaInWords = (via: Schemas['Session']['via']): string => VIA[via];

/** What happened, as the rest of a sentence that begins with a person. */
export const eventInWords = ({ type, via, why }: Pick<Schemas['SecurityEvent'], 'type' | 'via' | 'why'>): string =>
  type === 'user.signed_in' ? `signed in${via === null ? '' : ` ${VIA[via]}`}` : why === null ? 'signed out' : WHY[why];

/** In this order: each names those after it, too. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bChrom(?:e|ium)\/|\bCriOS\/|\bHeadlessChrome\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\biPhone|\biPad/, 'iOS'],
  [/\bAndroid/, 'Android'],
  [/\bWindows/, 'Windows'],
  [/\bMac OS X|\bMacintosh/, 'macOS'],
  [/\bLinux|\bX11/, 'Linux'],
];

/** `Firefox on Linux`: what a browser says of itself, and it may say anything. Null where that says nothing. */
export const browserOf = (userAgent: string | null): string | null => {
  const nameIn = (list: typeof BROWSERS): string | undefined =>
    list.find(([pattern]) => pattern.test(userAgent ?? ''))?.[1];
  const [browser, system] = [nameIn(BROWSERS), nameIn(SYSTEMS)];
  if (browser === undefined) return system === undefined ? null : `A browser on ${system}`;
  return system === undefined ? browser : `${browser} on ${system}`;
};
