const OF_IPV6 = /^([0-9a-f]+:[0-9a-f]+:[0-9a-f]+):[0-9a-f]+::\/64$/;

/**
 * The site that a client's network belongs to. One machine uses up a /64 of IPv6 as it likes; a line, a company or a rented
 * server often has a whole /48, which is 65,536 of those. So where many clients are told from one by where they come
 * from, a /48 is one.
 * @param network an IPv4 address, or a /64 as `2001:db8:1:2::/64`
 * @returns the /48, as `2001:db8:1::/48`; of anything else the network itself
 */
export const siteOf = (network: string): string => network.replace(OF_IPV6, '$1::/48');
