import { DomainError } from '../../kernel/index.js';

/** A secret or restricted key of the processor's test mode. */
const SANDBOX_KEY = /^(?:sk|rk)_test_[A-Za-z0-9]{16,247}$/;

/** What no key that is good here ever holds: a live key, one of an organization, one that is public, and one that signs webhooks. */
const NEVER = /_live_|sk_org|pk_|whsec_/;

/** Deeper encodings than people make by copying. */
const DECODINGS_MAX = 4;

/**
 * Whether a text is, or holds, a key that could move real money or is none of ours, however it is written: in capitals or
 * full width, percent-encoded, with quotes, spaces or invisible characters in it.
 */
export const holdsRefusedKey = (text: string): boolean => {
  let spelling = text;
  for (let decoded = 0; decoded <= DECODINGS_MAX; decoded += 1) {
    if (NEVER.test(bare(spelling))) return true;
    const next = percentDecoded(spelling);
    if (next === spelling) return false;
    spelling = next;
  }
  return false;
};

export const isSandboxKey = (text: string): boolean => SANDBOX_KEY.test(text) && !holdsRefusedKey(text);

/** @throws {DomainError} payments_live_key_refused. It never holds what was refused. */
export const refuseLiveKey = (text: string): void => {
  if (!holdsRefusedKey(text)) return;
  const isOfAnotherKind = OF_ANOTHER_KIND.test(text);
  throw new DomainError('payments_live_key_refused', {
    param: 'secret',
    ...(isOfAnotherKind ? { message: OTHER_KIND } : {}),
  });
};

/** A key of a sandbox, that no call can be made with. */
const OF_ANOTHER_KIND = /^(?:pk_test_|whsec_|sk_org_test_)/;
const OTHER_KIND =
  'This is a publishable key, the key of an organization, or the secret of a webhook, with which no connector works. Store a secret or restricted key of the sandbox instead (sk_test_ or rk_test_).';

const bare = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^a-z0-9_]/g, '');

/** Each escape on its own: one that is broken keeps no other from being read. */
const percentDecoded = (text: string): string =>
  text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
