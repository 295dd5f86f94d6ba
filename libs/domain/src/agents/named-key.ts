import { parseId, type KeyId } from '../kernel/index.js';

const BEGINNING = /^(?:svc_(?:live|test)_)?([0-9a-hjkmnp-tv-z]{8})$/;
const WITH_SECRET = /^svc_(?:live|test)_[0-9a-hjkmnp-tv-z]{8}_/;

/** How people name an API key: by its id, or by how it begins. */
export type NamedKey = { readonly id: KeyId } | { readonly prefix: string };

/** `key_...`, `svc_live_k3y9prf0` or `k3y9prf0`: as an id, as lists show it, as logs do. Null for anything else. */
export const parseNamedKey = (text: string): NamedKey | null => {
  const id = parseId('key', text);
  if (id !== null) return { id };
  const [, prefix] = BEGINNING.exec(text) ?? [];
  return prefix === undefined ? null : { prefix };
};

/** Whether a text goes on behind the beginning of a key: into its secret, which names nothing and belongs nowhere. */
export const holdsKeySecret = (text: string): boolean => WITH_SECRET.test(text);
