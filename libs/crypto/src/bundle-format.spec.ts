import { describe, expect, it } from 'vitest';

import { KeySetError, MAX_KEYS_BYTES, parsePublishedKeySet } from './bundle-format.js';
import { at, entryOf, KEY, keyFrom } from './testing/given-chain.js';

const other = keyFrom('another');
const KEYS = [entryOf(KEY, { retired_at: at(5) }), entryOf(other, { revoked_at: at(9) })];

const parsed = (text: string) => parsePublishedKeySet(Buffer.from(text));
const published = (...keys: readonly object[]): string => JSON.stringify({ object: 'seal_key_set', keys });

describe('a key set as the service publishes it', () => {
  it('is read in any spelling of its JSON', () => {
    expect(parsed(published(...KEYS))).toEqual(KEYS);
    expect(parsed(`${JSON.stringify({ keys: KEYS, object: 'seal_key_set' }, null, 2)}\n`)).toEqual(KEYS);
    expect(parsed(published())).toEqual([]);
  });

  const [first] = KEYS;
  it.each([
    ['cut', published(...KEYS).slice(0, -1), 'is not readable as JSON (syntax at byte '],
    ['empty', '', 'is not readable as JSON (syntax at byte 0)'],
    ['with a member twice', '{"object":"seal_key_set","keys":[],"keys":[]}', '(duplicate_key at byte '],
    ['too long', ' '.repeat(MAX_KEYS_BYTES + 1), `(too_large at byte ${MAX_KEYS_BYTES})`],
    [
      'something that nests deeply',
      '['.repeat(40) + ']'.repeat(40),
      'is not of the shape of a key set (depth at byte ',
    ],
    ['no object', '[]', 'is not of the shape of a key set (at its top)'],
    ['of another kind', '{"object":"list","keys":[]}', '(at object)'],
    ['with a member that nobody knows', published({ ...first, suspended_at: null }), '(at keys.0.suspended_at)'],
    ['without a member', published({ ...first, revoked_at: undefined }), '(at keys.0.revoked_at)'],
    [
      'with a time in another spelling',
      published({ ...first, retired_at: '2026-10-01T12:00:00Z' }),
      'keys.0.retired_at',
    ],
    [
      'with another public key under a kid',
      published({ ...first, public_key: other.publicKey.text }),
      `lists another public key under the kid ${KEY.publicKey.kid} than its own`,
    ],
    ['with a key twice', published(first ?? {}, entryOf(KEY)), 'lists a key twice'],
  ])('%s is refused, and the place is named', (_title, text, said) => {
    expect(() => parsed(text)).toThrow(KeySetError);
    expect(() => parsed(text)).toThrow(said);
  });
});
