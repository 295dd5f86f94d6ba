import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readMailAddress } from './mail-address.js';

describe('a mail address', () => {
  it.each([
    ['jane@example.com', 'jane@example.com'],
    ['Jane.Doe+tag@Example.COM', 'jane.doe+tag@example.com'],
    ["o'brien@sub.example.co.uk", "o'brien@sub.example.co.uk"],
    ['jane@bücher.example', 'jane@xn--bcher-kva.example'],
    ['jane@BÜCHER.example', 'jane@xn--bcher-kva.example'],
    ['a@b.xn--p1ai', 'a@b.xn--p1ai'],
    [`${'a'.repeat(64)}@example.com`, `${'a'.repeat(64)}@example.com`],
  ])('%s is compared as %s', (text, normal) => {
    expect(readMailAddress(text)?.normal).toBe(normal);
  });

  it('keeps the local part as it was typed for the mail, and no dot or tag is folded', () => {
    expect(readMailAddress('Jane.Doe@Example.COM')?.spelling).toBe('Jane.Doe@example.com');
    expect(readMailAddress('jane.doe@example.com')?.normal).not.toBe(readMailAddress('janedoe@example.com')?.normal);
  });

  it.each([
    '',
    'jane',
    '@example.com',
    'jane@',
    'jane@localhost',
    'jane@127.0.0.1',
    'jane@[127.0.0.1]',
    'jane@127.1',
    'jane@0x7f.1',
    'jane@example.com.',
    'jane@.example.com',
    'jane@example..com',
    'jane@-example.com',
    'jane@example-.com',
    'jane@example.1com',
    'jane@exa mple.com',
    'jane@exa_mple.com',
    'jane@a%2eexample.com',
    'jane@example.com\r\nBcc: q@q.com',
    'jane\r\n@example.com',
    'a@x.com, b@x.com',
    'Jane <jane@example.com>',
    '<jane@example.com>',
    '"jane doe"@example.com',
    'jane@@example.com',
    'jane@x@example.com',
    '.jane@example.com',
    'jane.@example.com',
    'ja..ne@example.com',
    'jäne@example.com',
    'jane@example.com\0',
    ' jane@example.com',
    'jane@example.com ',
    'jane@example.com/x',
    'jane@example.com:25',
    `${'a'.repeat(65)}@example.com`,
    `jane@${'a'.repeat(64)}.com`,
    `jane@${'abcdefgh.'.repeat(28)}com`,
  ])('is not %j', (text) => {
    expect(readMailAddress(text)).toBeNull();
  });

  it('has one normal form, which is its own', () => {
    const address = fc
      .emailAddress()
      .map((text) => readMailAddress(text))
      .filter((read) => read !== null);
    fc.assert(
      fc.property(address, ({ normal, spelling }) => {
        expect(readMailAddress(normal)?.normal).toBe(normal);
        expect(readMailAddress(spelling.toUpperCase())?.normal).toBe(normal);
        expect(normal).toMatch(/^[\x21-\x7e]+$/);
      }),
    );
  });
});
