import type { OrgId, AgentId } from '../kernel/index.js';

/**
 * `svc_live_<8-char prefix>_<32-char secret>` or `svc_test_...` (rule KEY-1). Prefix and secret are lowercase base 32:
 * 40 bits that find the key, 160 bits that prove it.
 */
export const API_KEY_PATTERN = /^svc_(live|test)_([0-9a-hjkmnp-tv-z]{8})_([0-9a-hjkmnp-tv-z]{32})$/;

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

export interface ParsedApiKey {
  readonly livemode: boolean;
  readonly prefix: string;
  readonly secret: string;
}

/** Null for anything but one whole key, byte for byte. */
export const parseApiKey = (text: string): ParsedApiKey | null => {
  const match = API_KEY_PATTERN.exec(text);
  return match ? { livemode: match[1] === 'live', prefix: match[2] as string, secret: match[3] as string } : null;
};

/** A new key from 40 random bytes. Shown once; only its prefix and the keyed hash of its secret are kept. */
export const mintApiKey = (livemode: boolean, random: Uint8Array): ParsedApiKey & { readonly text: string } => {
  const letters = Array.from(random.subarray(0, 40), (byte) => ALPHABET.charAt(byte & 31)).join('');
  const [prefix, secret] = [letters.slice(0, 8), letters.slice(8)];
  return { livemode, prefix, secret, text: `svc_${livemode ? 'live' : 'test'}_${prefix}_${secret}` };
};

/** Hashes key secrets under the deployment's pepper: a stolen database alone proves no key (rule KEY-1). */
export abstract class KeyHasher {
  /** Lowercase hex. */
  abstract hash(secret: string): string;
  /** In constant time. */
  abstract matches(secret: string, hash: string): boolean;
}

export type KeyHolder =
  | { readonly kind: 'agent'; readonly org: OrgId; readonly agent: AgentId }
  | { readonly kind: 'org'; readonly org: OrgId };

/** Which stream a key's prefix belongs to. The row is written before the event and means nothing without it. */
export abstract class KeyDirectory {
  abstract find(prefix: string): Promise<KeyHolder | null>;
  /** False when the prefix is taken, by whomever: mint another key. */
  abstract claim(prefix: string, holder: KeyHolder): Promise<boolean>;
  /**
   * That a key was used: told at every use, written at most every {@link KEY_TOUCH_MS} by a process, and beside the
   * request, which neither waits for it nor fails with it. Of a prefix that nobody claimed nothing is written.
   */
  abstract noteUse(prefix: string, nowMs: number): void;
  /**
   * When each was last used in any process, in Unix milliseconds and {@link KEY_TOUCH_MS} late at most. Never used:
   * missing.
   */
  abstract lastUses(prefixes: readonly string[]): Promise<ReadonlyMap<string, number>>;
}

/** How often it is written that a key is used. */
export const KEY_TOUCH_MS = 5 * 60 * 1000;
