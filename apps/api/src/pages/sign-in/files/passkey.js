// GET /login: the way in without a mail. Nobody is named: the device shows which passkeys it has for this site. What a device is
// asked, and what it answers, is the same where an approval is signed.
import { addressOf, ask, button, byId, complain, failure, forget, make, problemAt, whileBusy } from './page.js';

/** Browsers have no passkeys at an IP address. `[::1]` is one too. */
const isAddress = (host) => /^[\d.]+$/.test(host) || host.startsWith('[');

const LOOPBACK = /^(?:127\.|\[::1\])/;

/** In development the same pages are at another name, which has passkeys. */
const elsewhere = () => {
  const url = new URL(location.href);
  url.hostname = 'localhost';
  return make(
    'p',
    { class: 'note' },
    `Browsers have no passkeys at ${location.hostname}. To sign in with one, `,
    make('a', { href: url.href }, `open this page at ${url.host}`),
    '.',
  );
};

/** What the first step of /login shows below its form; nothing where this browser has no passkeys here. */
export const passkeyParts = () => {
  if (isAddress(location.hostname)) return LOOPBACK.test(location.hostname) ? [elsewhere()] : [];
  if (!('PublicKeyCredential' in globalThis)) return [];
  return [
    make(
      'div',
      { class: 'passkey' },
      problemAt('passkey-problem'),
      button('passkey', 'Sign in with a passkey', 'Waiting for your device …'),
    ),
  ];
};

const bytesOf = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));

const textOf = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** What the device answers, once it has verified its person. Throws what the browser says where it answers nothing. */
const signedBy = async ({ challenge, allowCredentials, ...options }) => {
  const allowed = allowCredentials.map(({ type, id }) => ({ type, id: bytesOf(id) }));
  const publicKey = { ...options, challenge: bytesOf(challenge), allowCredentials: allowed };
  const { id, response } = await navigator.credentials.get({ publicKey });
  return {
    id,
    client_data_json: textOf(response.clientDataJSON),
    authenticator_data: textOf(response.authenticatorData),
    signature: textOf(response.signature),
    ...(response.userHandle === null ? {} : { user_handle: textOf(response.userHandle) }),
  };
};

const CANCELLED =
  'Nobody was signed in: it was cancelled, took too long, or this device has no passkey for here. Try again, or use your e-mail address.';
const UNUSABLE = 'This browser cannot use a passkey here. Use your e-mail address.';

const enter = async () => {
  const asked = await ask('/v1/auth/passkey/options', {});
  if (asked.failed) return asked;
  let credential;
  try {
    credential = await signedBy(asked.public_key);
  } catch (error) {
    return failure('device', error?.name === 'NotAllowedError' ? CANCELLED : UNUSABLE);
  }
  const next = new URLSearchParams(location.search).get('next');
  return ask('/v1/auth/passkey/verify', { credential, ...(addressOf(next) === null ? {} : { next }) });
};

/** @param onSignedIn is given the answer, which says where to go */
export const listenForPasskey = (onSignedIn) => {
  byId('passkey')?.addEventListener('click', async () => {
    const problem = byId('passkey-problem');
    forget(problem, null);
    const answer = await whileBusy(byId('passkey'), enter);
    return answer.failed ? complain(problem, answer.message, null) : onSignedIn(answer);
  });
};

/** What a yes needs of the person where it is signed. */
export const passkeyNote = ({ you }) => {
  if (!you.has_passkey) {
    return 'To approve you sign with a passkey, and you have none yet. Sign in to the Console and add one under Settings, Sessions and passkeys; then open the link again. Denying needs none.';
  }
  return isAddress(location.hostname)
    ? `To approve you sign with your passkey, and browsers have none at ${location.hostname}. Open the link of the mail with localhost in its place. Denying needs none.`
    : 'To approve you sign with your passkey: your device asks for it. Denying needs none.';
};

const UNSIGNED =
  'Nothing was approved: it was cancelled, took too long, or this device has none of your passkeys. Try again, or open the link on the device that has one.';
const NOTHING_HERE = 'This browser cannot use a passkey here, so nothing was approved.';

/** The answer of the device, or what failed. */
export const askDevice = async (options) => {
  try {
    return await signedBy(options);
  } catch (error) {
    return failure('device', error?.name === 'NotAllowedError' ? UNSIGNED : NOTHING_HERE);
  }
};
