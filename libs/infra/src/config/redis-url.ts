/**
 * What is wrong with it; null where nothing is. The client reads more into a URL than is meant, some of it past our own
 * settings, and ends its process over what it cannot read.
 */
export const redisUrlFault = (text: string): string | null => {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^rediss?:$/.test(url.protocol) || url.hostname === '')
    return 'must be a redis:// or rediss:// URL';
  if (!/^\/?\d{0,5}$/.test(url.pathname)) {
    return 'must end in the number of a database, as redis://host:6379/0, or in none';
  }
  const isKnown = [...url.searchParams].every(([name, value]) => name === 'family' && /^[046]$/.test(value));
  if (!isKnown) return 'may have no parameter but family, 4 or 6';
  const isDecodable = isPercentEncoded(url.username) && isPercentEncoded(url.password);
  return isDecodable ? null : 'must have its user and password percent-encoded: % is written %25';
};

const isPercentEncoded = (text: string): boolean => {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
};
