import { isIP } from 'node:net';

import ipaddr from 'ipaddr.js';

/**
 * What lies behind an address. `public`: one host on the global internet. `private`: loopback, RFC 1918 and unique local
 * addresses, which a development service or an allow-list may open. `never`: everything else, cloud metadata included;
 * only an allow-list that names it opens it.
 */
export type AddressClass = 'public' | 'private' | 'never';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

const range = (text: string): Range => ipaddr.parseCIDR(text);

/** Reached through a global address, yet inside the cloud it is asked from. */
const METADATA_V4 = [range('168.63.129.16/32')];

/** Parts of 2000::/3 that are no one's host: IANA's special-purpose registry, and what cannot be judged by its own bits. */
const SPECIAL_V6 = [
  range('2001::/23'),
  range('2001:db8::/32'),
  range('2002::/16'),
  range('2620:4f:8000::/48'),
  range('3fff::/20'),
];
const GLOBAL_UNICAST_V6 = range('2000::/3');
const UNIQUE_LOCAL_V6 = range('fc00::/7');
/** Metadata services of clouds that use a unique local address. */
const METADATA_V6 = [
  // Amazon, Google, Oracle, Scaleway, Alibaba, Akamai.
  range('fd00:ec2::/32'),
  range('fd20:ce::/32'),
  range('fd00:c1::a9fe:a9fe/128'),
  range('fd00:42::42/128'),
  range('fd00:100::100:200/128'),
  range('fd00:a9fe:a9fe::1/128'),
];
/** RFC 6052: IPv4 hosts as seen from a network that has only IPv6. */
const NAT64 = range('64:ff9b::/96');
/** RFC 4291, 2.5.5: the socket dials the IPv4 address. */
const MAPPED = range('::ffff:0:0/96');
/** RFC 5214: any /64 may hold ISATAP interface identifiers. */
const ISATAP_MARKS = [0x0000_5efe, 0x0200_5efe];

/** Null when the text is no address. Zone ids (`fe80::1%eth0`) belong to link-local addresses and change nothing. */
export const classifyAddress = (text: string): AddressClass | null => {
  const address = parseAddress(text);
  if (address === null) return null;
  return address instanceof ipaddr.IPv4 ? classifyV4(address) : classifyV6(address);
};

/** IPv4 in IPv6-mapped form comes back as IPv4: both dial the same host. */
export const parseAddress = (text: string): Address | null => {
  // The library would also read `127.1` and `0x7f.1`, which no resolver answers and no socket reports.
  if (isIP(text) === 0) return null;
  const address = ipaddr.parse(withoutDots(text));
  return address instanceof ipaddr.IPv6 && isIn(address, MAPPED) ? lastBytesAsV4(address) : address;
};

/** One spelling of the host that an address leads to: an IPv4 host has others in IPv6. Its zone is left out. */
export const hostOf = (text: string): string => {
  const address = parseAddress(text);
  if (address === null) return text;
  const host = address instanceof ipaddr.IPv6 && isIn(address, NAT64) ? lastBytesAsV4(address) : address;
  return host.toNormalizedString().replace(/%.*$/, '');
};

/** The library takes `::127.0.0.1` for `::ffff:127.0.0.1`, which is another address; in hexadecimal it cannot. */
const withoutDots = (text: string): string =>
  isIP(text) === 4
    ? text
    : text.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)/, (_, ...bytes: string[]) => {
        const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number);
        return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
      });

export const isInRange = (text: string, cidr: readonly [Address, number]): boolean => {
  const address = parseAddress(text);
  return address !== null && isIn(address, [...cidr]);
};

/** Null when the text is neither an address nor a range. */
export const parseRange = (text: string): readonly [Address, number] | null => {
  if (isIP(text.split('/')[0] ?? '') !== 0 && ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  const address = parseAddress(text);
  return address === null ? null : [address, address instanceof ipaddr.IPv4 ? 32 : 128];
};

const isIn = (address: Address, [base, bits]: Range): boolean => {
  if (address instanceof ipaddr.IPv4) return base instanceof ipaddr.IPv4 && address.match(base, bits);
  return base instanceof ipaddr.IPv6 && address.match(base, bits);
};

const classifyV4 = (address: ipaddr.IPv4): AddressClass => {
  if (METADATA_V4.some((metadata) => isIn(address, metadata))) return 'never';
  switch (address.range()) {
    case 'unicast':
      return 'public';
    case 'loopback':
    case 'private':
      return 'private';
    default:
      return 'never';
  }
};

const classifyV6 = (address: ipaddr.IPv6): AddressClass => {
  if (isIn(address, NAT64)) return classifyV4(lastBytesAsV4(address)) === 'public' ? 'public' : 'never';
  if (address.range() === 'loopback') return 'private';
  if (isIn(address, UNIQUE_LOCAL_V6))
    return METADATA_V6.some((metadata) => isIn(address, metadata)) ? 'never' : 'private';
  if (!isIn(address, GLOBAL_UNICAST_V6) || SPECIAL_V6.some((special) => isIn(address, special))) return 'never';
  const mark = ((address.parts[4] ?? 0) << 16) | (address.parts[5] ?? 0);
  // A tunnel's far end decides where the packet goes.
  return ISATAP_MARKS.includes(mark) && classifyV4(lastBytesAsV4(address)) !== 'public' ? 'never' : 'public';
};

const lastBytesAsV4 = (address: ipaddr.IPv6): ipaddr.IPv4 => new ipaddr.IPv4(address.toByteArray().slice(12));
