import { describe, expect, it } from 'vitest';
import { InvalidMailAddress, parseMailSender, requireMailAddress } from './mail-address.js';

describe('requireMailAddress', () => {
  it.each([
    'ada@example.com',
    'Ada.Lovelace+ags@Example.COM',
    "o'brien@example.co.uk",
    '_@1und1.de',
    `${'a'.repeat(64)}@example.com`,
    `a@${'b'.repeat(63)}.example.com`,
    'a@xn--mller-kva.example',
  ])('takes %s', (address) => {
    const [local, domain = ''] = address.split('@');
    expect(requireMailAddress(address)).toBe(`${local}@${domain.toLowerCase()}`);
  });

  it('writes the domain as DNS knows it', () => {
    expect(requireMailAddress('ada@müller.example')).toBe('ada@xn--mller-kva.example');
  });

  it.each([
    ...['', '@', 'ada', 'ada@', '@example.com', 'ada@localhost', 'ada@example', 'ada@@example.com', 'a@b@example.com'],
    // More than one, to a library that reads lists.
    ...['a@x.com, b@y.com', 'a@x.com,b@y.com', 'a@x.com;b@y.com', 'a@x.com b@y.com', 'group:a@x.com;'],
    // Names, quotes, comments and routes.
    ...['Ada <ada@x.com>', '<ada@x.com>', '"ada"@x.com', '"a@x.com"@y.com', 'ada(x)@x.com', '@y.com:ada@x.com'],
    // Line breaks, wherever.
    ...['a@x.com\r\nBcc: q@q.com', 'a@x.com\n', '\na@x.com', 'a@x.com\r', 'a\r\n@x.com', 'a@x.com\0', 'a@x.com\u2028'],
    // Spaces and dots.
    ...[' a@x.com', 'a@x.com ', 'a b@x.com', 'a@x .com', '.a@x.com', 'a.@x.com', 'a..b@x.com', 'a@.x.com', 'a@x.com.'],
    // No domain.
    ...[
      'a@127.0.0.1',
      'a@[127.0.0.1]',
      'a@[::1]',
      'a@0x7f.1',
      'a@1.2',
      'a@x.1com',
      'a@-x.com',
      'a@x-.com',
      'a@x_y.com',
    ],
    // What becomes another address once it is translated.
    ...[
      'a@x%2ecom',
      'a@x\u3002com',
      'a@x\u00ad.com',
      'a@x\t.com',
      'ä@x.com',
      'a\u0301@x.com',
      'a@x\u200b.com',
      'a@x\u202e.com',
    ],
    // Too long.
    ...[`${'a'.repeat(65)}@x.com`, `a@${'b'.repeat(64)}.com`, `a@${'b.'.repeat(126)}com`],
  ])('refuses %j', (text) => {
    expect(() => requireMailAddress(text)).toThrow(InvalidMailAddress);
    expect(() => requireMailAddress(text)).toThrow(/^must be one plain e-mail address, such as name@example\.com$/);
  });
});

describe('parseMailSender', () => {
  it.each([
    ['ags@example.com', null, 'ags@example.com'],
    ['Agent Governance <ags@example.com>', 'Agent Governance', 'ags@example.com'],
    ["Müller & Sons' (test)<ags@example.com>", "Müller & Sons' (test)", 'ags@example.com'],
  ])('reads %s', (text, name, address) => {
    expect(parseMailSender(text)).toEqual({ name, address });
  });

  it.each([
    ...['', 'Ags', '<ags@example.com>', ' <ags@example.com>', '"Ags" <ags@example.com>', 'A, B <ags@example.com>'],
    ...['A <a@x.com> <b@x.com>', 'A <a@x.com>, b@x.com', 'A\r\nBcc: q@q.com <a@x.com>', 'A\u202e <a@x.com>'],
    ...[`${'a'.repeat(71)} <a@x.com>`, 'A <a@x.com', 'A a@x.com>', 'A <>'],
  ])('refuses %j', (text) => expect(() => parseMailSender(text)).toThrow(InvalidMailAddress));
});
