import { describe, expect, it } from 'vitest';

import { type AddressClass, classifyAddress } from './address-class.js';

const V4_BITS = 32;
const V6_BITS = 128;

/** Of IPv4 with dots, of IPv6 with `::` at most once and without dots: an own reading, so that no library judges itself. */
const valueOf = (text: string): bigint => {
  if (!text.includes(':')) return text.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);
  const [head = [], tail = []] = text.split('::').map((half) => half.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(text.includes('::') ? 8 - head.length - tail.length : 0).fill('0');
  return [...head, ...zeros, ...tail].reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);
};
const textOf = (value: bigint, bits: number): string => {
  const [width, base, separator] = bits === V4_BITS ? [8, 10, '.'] : [16, 16, ':'];
  const groups = Array.from({ length: bits / width }, (_, index) => BigInt(bits - (index + 1) * width));
  return groups.map((shift) => ((value >> shift) % 2n ** BigInt(width)).toString(base)).join(separator);
};

interface Border {
  readonly before: string | null;
  readonly first: string;
  readonly last: string;
  readonly after: string | null;
}
const bordersOf = (cidr: string): Border => {
  const [base = '', length = ''] = cidr.split('/');
  const bits = base.includes(':') ? V6_BITS : V4_BITS;
  const first = valueOf(base);
  const last = first + 2n ** BigInt(bits - Number(length)) - 1n;
  const textAt = (value: bigint) => (value < 0n || value >= 2n ** BigInt(bits) ? null : textOf(value, bits));
  return {
    before: textAt(first - 1n),
    first: textOf(first, bits),
    last: textOf(last, bits),
    after: textAt(last + 1n),
  };
};

type Row = readonly [cidr: string, source: string, before: AddressClass, inside: AddressClass, after: AddressClass];

/** IANA IPv4 Special-Purpose Address Registry; RFC 5771 for multicast; what is no range of it says whose it is. */
const V4: readonly Row[] = [
  ['0.0.0.0/8', 'RFC 791: this network', 'never', 'never', 'public'],
  ['10.0.0.0/8', 'RFC 1918', 'public', 'private', 'public'],
  ['100.64.0.0/10', 'RFC 6598: carrier-grade NAT', 'public', 'never', 'public'],
  ['127.0.0.0/8', 'RFC 1122: loopback', 'public', 'private', 'public'],
  ['169.254.0.0/16', 'RFC 3927: link-local', 'public', 'never', 'public'],
  ['172.16.0.0/12', 'RFC 1918', 'public', 'private', 'public'],
  ['192.0.0.0/24', 'RFC 6890: IETF protocol assignments', 'public', 'never', 'public'],
  ['192.0.2.0/24', 'RFC 5737: TEST-NET-1', 'public', 'never', 'public'],
  ['192.31.196.0/24', 'RFC 7535: AS112', 'public', 'never', 'public'],
  ['192.52.193.0/24', 'RFC 7450: AMT', 'public', 'never', 'public'],
  ['192.88.99.0/24', 'RFC 7526: 6to4 relays', 'public', 'never', 'public'],
  ['192.168.0.0/16', 'RFC 1918', 'public', 'private', 'public'],
  ['192.175.48.0/24', 'RFC 7534: AS112', 'public', 'never', 'public'],
  ['198.18.0.0/15', 'RFC 2544: benchmarks', 'public', 'never', 'public'],
  ['198.51.100.0/24', 'RFC 5737: TEST-NET-2', 'public', 'never', 'public'],
  ['203.0.113.0/24', 'RFC 5737: TEST-NET-3', 'public', 'never', 'public'],
  ['224.0.0.0/4', 'RFC 5771: multicast', 'public', 'never', 'never'],
  ['240.0.0.0/4', 'RFC 1112: reserved, and broadcast at its end', 'never', 'never', 'never'],
  ['168.63.129.16/32', 'Azure: WireServer, metadata, DNS', 'public', 'never', 'public'],
];

/** IANA IPv6 Special-Purpose Address Registry and IPv6 address space; the clouds' own documentation of their metadata. */
const V6: readonly Row[] = [
  ['::/128', 'RFC 4291: unspecified', 'never', 'never', 'private'],
  ['::1/128', 'RFC 4291: loopback', 'never', 'private', 'never'],
  ['64:ff9b:1::/48', 'RFC 8215: local translation', 'never', 'never', 'never'],
  ['100::/64', 'RFC 6666: discarded', 'never', 'never', 'never'],
  ['2001::/23', 'RFC 2928: IETF protocol assignments, Teredo, ORCHID', 'public', 'never', 'public'],
  ['2001:db8::/32', 'RFC 3849: documentation', 'public', 'never', 'public'],
  ['2002::/16', 'RFC 3056: 6to4', 'public', 'never', 'public'],
  ['2620:4f:8000::/48', 'RFC 7534: AS112', 'public', 'never', 'public'],
  ['3fff::/20', 'RFC 9637: documentation', 'public', 'never', 'public'],
  ['5f00::/16', 'RFC 9602: SRv6', 'never', 'never', 'never'],
  ['fc00::/7', 'RFC 4193: unique local', 'never', 'private', 'never'],
  ['fe80::/10', 'RFC 4291: link-local', 'never', 'never', 'never'],
  ['fec0::/10', 'RFC 3879: site-local', 'never', 'never', 'never'],
  ['ff00::/8', 'RFC 4291: multicast', 'never', 'never', 'never'],
  ['fd00:ec2::/32', 'Amazon EC2: metadata, DNS, time', 'private', 'never', 'private'],
  ['fd20:ce::/32', 'Google Compute Engine: metadata', 'private', 'never', 'private'],
  ['fd00:c1::a9fe:a9fe/128', 'Oracle Cloud: metadata', 'private', 'never', 'private'],
  ['fd00:42::42/128', 'Scaleway: metadata', 'private', 'never', 'private'],
  ['fd00:100::100:200/128', 'Alibaba Cloud: metadata', 'private', 'never', 'private'],
  ['fd00:a9fe:a9fe::1/128', 'Akamai: metadata', 'private', 'never', 'private'],
];

describe('the borders of every range (rules EGRESS-2 and EGRESS-4)', () => {
  it.each([...V4, ...V6])(
    '%s, %s: before it, at both its ends and behind it',
    (cidr, _source, before, inside, after) => {
      const border = bordersOf(cidr);
      expect([classifyAddress(border.first), classifyAddress(border.last)]).toEqual([inside, inside]);
      if (border.before !== null)
        expect([border.before, classifyAddress(border.before)]).toEqual([border.before, before]);
      if (border.after !== null) expect([border.after, classifyAddress(border.after)]).toEqual([border.after, after]);
    },
  );

  it('global unicast is 2000::/3 and nothing beside it (RFC 4291)', () => {
    const { before, first, last, after } = bordersOf('2000::/3');
    expect([before, first, last, after].map((address) => classifyAddress(address ?? ''))).toEqual([
      'never',
      'public',
      'public',
      'never',
    ]);
  });

  it.each([
    ['64:ff9b::', '1.0.0.0', 'public'],
    ['64:ff9b::', '223.255.255.255', 'public'],
    ['64:ff9b::', '0.255.255.255', 'never'],
    ['64:ff9b::', '10.0.0.0', 'never'],
    ['64:ff9b::', '168.63.129.16', 'never'],
    ['64:ff9b:0:0:0:1:', '8.8.8.8', 'never'],
    ['64:ff9a:ffff:ffff:ffff:ffff:', '8.8.8.8', 'never'],
  ])('NAT64 is 64:ff9b::/96 alone, and says what its IPv4 address says (RFC 6052): %s%s is %s', (prefix, v4, found) =>
    expect(classifyAddress(prefix + v4)).toBe(found),
  );

  it.each([
    ['0:5efe', '127.0.0.1', 'never'],
    ['200:5efe', '127.0.0.1', 'never'],
    ['0:5efe', '8.8.8.8', 'public'],
    ['200:5efe', '8.8.8.8', 'public'],
    ['0:5efd', '127.0.0.1', 'public'],
    ['200:5eff', '127.0.0.1', 'public'],
    ['100:5efe', '127.0.0.1', 'public'],
  ])('ISATAP is told by its two marks (RFC 5214): %s before %s is %s', (mark, v4, found) =>
    expect(classifyAddress(`2001:470:1f0b:1:${mark}:${v4}`)).toBe(found),
  );
});
