import type { IncomingMessage } from 'node:http';

/** In order of arrival, names in lower case. */
export const headersOf = (incoming: IncomingMessage): readonly (readonly [name: string, value: string])[] => {
  const pairs: (readonly [string, string])[] = [];
  for (let index = 0; index + 1 < incoming.rawHeaders.length; index += 2) {
    pairs.push([(incoming.rawHeaders[index] ?? '').toLowerCase(), incoming.rawHeaders[index + 1] ?? '']);
  }
  return pairs;
};
