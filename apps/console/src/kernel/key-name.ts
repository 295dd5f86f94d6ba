/** What names an API key: its id, or how it begins; behind that beginning perhaps the dots of a list, or the secret itself. */
const KEY =
  /^(key_[0-7][0-9a-hjkmnp-tv-z]{25}|(?:svc_(?:live|test)_)?[0-9a-hjkmnp-tv-z]{8})(?:…|_[0-9a-hjkmnp-tv-z]{32})?$/;
const SECRET = /(svc_(?:live|test)_[0-9a-hjkmnp-tv-z]{8})_[0-9a-hjkmnp-tv-z]{32}/g;

/** The key that somebody names, without what stands behind its name. Null where the text names none. */
export const keyNameIn = (text: string): string | null => KEY.exec(text.trim())?.[1] ?? null;

/** Keys are cut behind their beginning: no secret is to stand in an address, which others see and browsers keep. */
export const withoutKeySecrets = (text: string): string => text.replace(SECRET, '$1');
