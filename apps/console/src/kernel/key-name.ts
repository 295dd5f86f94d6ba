import { KEY_ID_PATTERN } from './contract.ts';

/**
 * Names an API key: its id, or its first characters. After these may follow the `…` that lists put there, or the key's
 * secret.
 */
const KEY = new RegExp(
  `^(${KEY_ID_PATTERN.source.slice(1, -1)}|(?:svc_(?:live|test)_)?[0-9a-hjkmnp-tv-z]{8})(?:…|_[0-9a-hjkmnp-tv-z]{32})?$`,
);
const SECRET = /(svc_(?:live|test)_[0-9a-hjkmnp-tv-z]{8})_[0-9a-hjkmnp-tv-z]{32}/g;

/** The part of the text that names a key, without dots or secret; null if the text names no key. */
export const keyNameIn = (text: string): string | null => KEY.exec(text.trim())?.[1] ?? null;

/** Cuts the secrets off all keys in a text. Used for addresses, which browsers store and other people see. */
export const withoutKeySecrets = (text: string): string => text.replace(SECRET, '$1');
