import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { commitmentOf, commitUnder, isSalt, newSalt, saltFor } from './commitment.js';
import { EncodingError } from './base64url.js';

const ROOT = Buffer.alloc(32, 7).toString('base64url');

describe('a commitment', () => {
  it('is SHA-256 over the tag, the salt and the value, each in its place (docs/deed-format.md)', () => {
    const hash = createHash('sha256').update('service/commit/v1\n').update(Buffer.alloc(32, 7)).update('\n{"a":1}');
    expect(commitmentOf(ROOT, '{"a":1}')).toBe(`sha256:${hash.digest('hex')}`);
    expect(commitmentOf(ROOT, Buffer.from('{"a":1}'))).toBe(commitmentOf(ROOT, '{"a":1}'));
  });

  it('has a salt for each value, made from the root', () => {
    const salt = createHmac('sha256', Buffer.alloc(32, 7)).update('service/salt/v1\nargs').digest('base64url');
    expect(saltFor(ROOT, 'args')).toBe(salt);
    expect(commitUnder(ROOT, 'args', '{}')).toBe(commitmentOf(salt, '{}'));
    expect(commitUnder(ROOT, 'args', '{}')).not.toBe(commitUnder(ROOT, 'result', '{}'));
  });

  it('says nothing of its value to whoever has not the salt: the same value never looks the same twice', () => {
    const commitments = Array.from({ length: 100 }, () => commitUnder(newSalt(), 'args', '{"amount":80}'));
    expect(new Set(commitments).size).toBe(100);
  });

  it.each(['', 'A'.repeat(42), 'A'.repeat(44), `${'A'.repeat(42)}=`, `${'A'.repeat(42)}B`, `${'A'.repeat(42)}é`])(
    'has no salt that reads %j',
    (text) => expect(isSalt(text)).toBe(false),
  );

  it('takes every salt that is made, and refuses one that is no base64url', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        expect(isSalt(Buffer.from(bytes).toString('base64url'))).toBe(true);
      }),
    );
    expect(isSalt(newSalt())).toBe(true);
    expect(() => commitmentOf(`${'A'.repeat(42)}B`, '1')).toThrow(EncodingError);
  });
});
