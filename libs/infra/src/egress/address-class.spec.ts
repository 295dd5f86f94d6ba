import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { classifyAddress } from './address-class.js';

/** First, last and a middle address of each. */
const V4_RANGES: readonly (readonly [string, string, string])[] = [
  ['0.0.0.0', '0.1.2.3', '0.255.255.255'],
  ['10.0.0.0', '10.1.2.3', '10.255.255.255'],
  ['100.64.0.0', '100.100.100.200', '100.127.255.255'],
  ['127.0.0.0', '127.0.0.1', '127.255.255.255'],
  ['169.254.0.0', '169.254.169.254', '169.254.255.255'],
  ['172.16.0.0', '172.20.1.1', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.192', '192.0.0.255'],
  ['192.0.2.0', '192.0.2.7', '192.0.2.255'],
  ['192.168.0.0', '192.168.1.1', '192.168.255.255'],
  ['198.18.0.0', '198.19.0.1', '198.19.255.255'],
  ['198.51.100.0', '198.51.100.9', '198.51.100.255'],
  ['203.0.113.0', '203.0.113.5', '203.0.113.255'],
  ['224.0.0.0', '239.1.1.1', '239.255.255.255'],
  ['240.0.0.0', '250.1.1.1', '255.255.255.255'],
];
const METADATA = [
  '169.254.169.254',
  '169.254.170.2',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd20:ce::254',
];
const INNER_V4 = ['127.0.0.1', '169.254.169.254', '10.0.0.1', '172.16.0.1', '192.168.1.1', '0.0.0.0'];

const hexOf = (v4: string): string => {
  const [a, b, c, d] = v4.split('.').map(Number) as [number, number, number, number];
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
};
/** Every way to write an IPv4 address inside an IPv6 one. */
const embeddings = (v4: string): readonly string[] => [
  `::ffff:${v4}`,
  `::ffff:${hexOf(v4)}`,
  `::${v4}`,
  `::ffff:0:${v4}`,
  `64:ff9b::${v4}`,
  `64:ff9b:1::${v4}`,
  `2002:${hexOf(v4)}::1`,
  `2001:0:4136:e378:8000:63bf:${hexOf(v4)}`,
  `2001:470:1f0b:1::5efe:${v4}`,
  `2001:470:1f0b:1:200:5efe:${hexOf(v4)}`,
  `fe80::5efe:${v4}`,
];

describe('address classes (rules EGRESS-2 and EGRESS-4)', () => {
  it.each(V4_RANGES.flat())('%s is not public', (address) => expect(classifyAddress(address)).not.toBe('public'));

  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '93.184.216.34',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '223.255.255.255',
    '2606:4700::1111',
    '2a00:1450:4001::1',
    '64:ff9b::8.8.8.8',
    '::ffff:8.8.8.8',
  ])('%s is public', (address) => expect(classifyAddress(address)).toBe('public'));

  it.each([
    '::',
    '::1',
    'fc00::1',
    'fdff:ffff::1',
    'fe80::1',
    'fe80::1%eth0',
    'febf::1',
    'fec0::1',
    'ff02::1',
    '2001:db8::1',
    '3fff::1',
    '100::1',
    '5f00::1',
    '2001::1',
    '2001:2::1',
    '2001:10::1',
    '2001:20::1',
    '4000::1',
  ])('%s is not public', (address) => expect(classifyAddress(address)).not.toBe('public'));

  it.each(METADATA)('metadata address %s is never reached, not even in development', (address) =>
    expect(classifyAddress(address)).toBe('never'),
  );

  it.each(INNER_V4.flatMap(embeddings))('%s is not public', (address) =>
    expect(classifyAddress(address)).not.toBe('public'),
  );

  it.each([...INNER_V4, '8.8.8.8'])('::%s is no IPv4 address, with dots or without', (v4) => {
    expect(classifyAddress(`::${hexOf(v4)}`)).toBe('never');
    expect(classifyAddress(`::${v4}`)).toBe('never');
  });

  it.each(['127.0.0.1', '10.9.8.7', '172.16.0.1', '192.168.1.1', '::1', 'fd12:3456::1', '::ffff:127.0.0.1'])(
    '%s is private: development may reach it',
    (address) => expect(classifyAddress(address)).toBe('private'),
  );

  it.each(['', 'localhost', '1.2.3', '1.2.3.4.5', 'a::b::c', '::ffff:1.2.3.256'])('%j is no address', (text) =>
    expect(classifyAddress(text)).not.toBe('public'),
  );
});

/** Written down from IANA's special-purpose registries, with integers instead of the library. */
const SPECIAL_V4: readonly (readonly [number, number])[] = [
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.31.196.0/24',
  '192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3 168.63.129.16/32',
]
  .join(' ')
  .split(' ')
  .map((cidr) => {
    const [base = '', bits = ''] = cidr.split('/');
    return [base.split('.').reduce((sum, part) => sum * 256 + Number(part), 0), Number(bits)];
  });
const isSpecialV4 = (value: number): boolean =>
  SPECIAL_V4.some(([base, bits]) => Math.floor(value / 2 ** (32 - bits)) === Math.floor(base / 2 ** (32 - bits)));
const textOfV4 = (value: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');

describe('address classes against an independent classifier', () => {
  it('agrees on 10,000 generated IPv4 addresses, around the borders of every range too', () => {
    const nearBorder = fc
      .tuple(fc.constantFrom(...SPECIAL_V4), fc.integer({ min: -2, max: 2 }), fc.boolean())
      .map(([[base, bits], offset, isEnd]) => (base + (isEnd ? 2 ** (32 - bits) : 0) + offset + 2 ** 32) % 2 ** 32);
    fc.assert(
      fc.property(fc.oneof(fc.integer({ min: 0, max: 2 ** 32 - 1 }), nearBorder), (value) => {
        expect(classifyAddress(textOfV4(value)) === 'public').toBe(!isSpecialV4(value));
      }),
      { numRuns: 10_000 },
    );
  });

  it('an IPv6 address is public only in 2000::/3, or as NAT64 of a public one', () => {
    const group = fc.integer({ min: 0, max: 0xffff });
    const first = fc.oneof(group, fc.constantFrom(0, 0x64, 0x2001, 0x2002, 0x3fff, 0xfc00, 0xfe80, 0xff02));
    fc.assert(
      fc.property(first, fc.array(group, { minLength: 7, maxLength: 7 }), (head, tail) => {
        const address = [head, ...tail].map((part) => part.toString(16)).join(':');
        if (classifyAddress(address) === 'public') expect(head >> 13 === 1 || head === 0x64).toBe(true);
      }),
      { numRuns: 10_000 },
    );
  });
});
