import type { Schemas } from '../kernel/client.ts';

const VIA: Readonly<Record<Schemas['Session']['via'], string>> = {
  link: 'with a mail link',
  code: 'with a mail code',
  invite: 'with an invitation',
  org_switch: 'by switching organizations',
  passkey: 'with a passkey',
};

export const viaInWords = (via: Schemas['Session']['via']): string => VIA[via];

/** The first match counts: user agents of a browser also name those that come later in this list. */
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

/** `Firefox on Linux`: the browser by its user agent, which can claim anything. Null if it names nothing known. */
export const browserOf = (userAgent: string | null): string | null => {
  const nameIn = (list: typeof BROWSERS): string | undefined =>
    list.find(([pattern]) => pattern.test(userAgent ?? ''))?.[1];
  const [browser, system] = [nameIn(BROWSERS), nameIn(SYSTEMS)];
  if (browser === undefined) return system === undefined ? null : `A browser on ${system}`;
  return system === undefined ? browser : `${browser} on ${system}`;
};
