import type { Browser, BrowserAnswer } from './people-bench.js';
import type { Lies, SoftAuthenticator } from './soft-authenticator.js';

export const challengeOf = ({ json }: BrowserAnswer): string =>
  ((json['public_key'] ?? {}) as { readonly challenge?: string }).challenge ?? '';

interface Registering {
  readonly name: string;
  readonly discoverable?: boolean;
  /** The answer with the challenge; by default it is asked for. */
  readonly asked?: BrowserAnswer;
  readonly lies?: Lies;
  readonly headers?: Record<string, string>;
}

/** What a browser does when a person adds a passkey. */
export const passkeyAt = async (
  browser: Browser,
  device: SoftAuthenticator,
  { name, discoverable, asked, lies, headers }: Registering,
): Promise<BrowserAnswer> => {
  const challenge = challengeOf(asked ?? (await browser.post('/v1/passkeys/options')));
  const credential = {
    ...device.register(challenge, lies),
    ...(discoverable === undefined ? {} : { discoverable }),
  };
  return browser.post('/v1/passkeys', { name, credential }, headers);
};

interface Entering {
  readonly next?: string;
  readonly asked?: BrowserAnswer;
  readonly lies?: Lies;
  /** What is sent in place of what the device answered. */
  readonly instead?: Readonly<Record<string, unknown>>;
}

/** What a browser does when a person signs in by a passkey. */
export const signInBy = async (
  browser: Browser,
  device: SoftAuthenticator,
  { next, asked, lies, instead = {} }: Entering = {},
): Promise<BrowserAnswer> => {
  const challenge = challengeOf(asked ?? (await browser.post('/v1/auth/passkey/options')));
  const answer = await browser.post('/v1/auth/passkey/verify', {
    credential: { ...device.sign(challenge, lies), ...instead },
    ...(next === undefined ? {} : { next }),
  });
  if (answer.status === 200) browser.csrf = browser.cookie('csrf') ?? null;
  return answer;
};
