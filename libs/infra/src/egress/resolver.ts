import { lookup } from 'node:dns/promises';

/** All addresses of a name, in the order to try them. Rejects when there are none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** `getaddrinfo` runs on the process's four pool threads; slow names must leave one to files and hashes. */
const MAX_CONCURRENT_LOOKUPS = 3;

/** The operating system's view of names, hosts file included. Nothing is cached here: every dial asks again. */
export const systemResolver = (): Resolve => {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (host) => {
    if (running < MAX_CONCURRENT_LOOKUPS) running += 1;
    else {
      await new Promise<void>((resume) => {
        waiting.push(resume);
      });
    }
    try {
      const found = await lookup(host, { all: true, order: 'verbatim' });
      return found.map(({ address }) => address);
    } finally {
      // The place goes straight to the next in line.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
};
