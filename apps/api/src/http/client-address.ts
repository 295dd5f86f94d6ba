import ipaddr from 'ipaddr.js';

/** `[address]` or `[address]:port`, and `a.b.c.d:port`: some proxies write the client's port, which says nothing of who that is. */
const IN_BRACKETS = /^\[([^\]]+)\](?::\d+)?$/;
const IPV4_WITH_PORT = /^(\d+\.\d+\.\d+\.\d+):\d+$/;
/** RFC 4007, section 11: on which link of this machine the address is. */
const ZONE = /%.*$/;

/** The address that a text names, an IPv4 one also where it is written as an IPv6 one; null where it names none. */
export const parsedAddress = (text: string | undefined): ipaddr.IPv4 | ipaddr.IPv6 | null => {
  // A client that has reset its connection has none any more.
  if (text === undefined) return null;
  const trimmed = text.trim();
  const bare = (IN_BRACKETS.exec(trimmed)?.[1] ?? IPV4_WITH_PORT.exec(trimmed)?.[1] ?? trimmed).replace(ZONE, '');
  // As people write it: 4 decimal parts. The library also reads 1.2, 0x1 and 017 as addresses.
  if (!ipaddr.IPv4.isValidFourPartDecimal(bare) && !ipaddr.IPv6.isValid(bare)) return null;
  return ipaddr.process(bare);
};

/**
 * The one spelling of an address (RFC 5952), so that one client is one in limits and logs; of anything else the text itself, and
 * empty where the client is gone already.
 */
export const clientAddress = (text: string | undefined): string => {
  const address = parsedAddress(text);
  if (address === null) return text ?? '';
  return address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString();
};

/**
 * Whether an address of `X-Forwarded-For` is one of these proxies, however it is spelled.
 * @param proxies addresses and CIDR ranges
 */
export const trustOf = (proxies: readonly string[]): ((address: string | undefined) => boolean) => {
  const ranges = proxies.map(rangeOf);
  return (text) => {
    const address = parsedAddress(text);
    return address !== null && ranges.some((range) => asIpv6(address).match(range));
  };
};

const IPV6_BITS = 128;
/** ::ffff:0:0/96, where IPv4 addresses stand among those of IPv6 (RFC 4291, section 2.5.5.2). */
const MAPPED_PREFIX_BITS = 96;

const asIpv6 = (address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv6 =>
  address instanceof ipaddr.IPv4 ? address.toIPv4MappedAddress() : address;

const rangeOf = (proxy: string): [ipaddr.IPv6, number] => {
  const [text = '', bits] = proxy.split('/');
  const written = ipaddr.parse(text);
  const offset = written instanceof ipaddr.IPv4 ? MAPPED_PREFIX_BITS : 0;
  return [asIpv6(written), bits === undefined ? IPV6_BITS : offset + Number(bits)];
};
