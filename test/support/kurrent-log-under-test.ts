import { kurrentProgram } from './kurrent-program.js';
import { KURRENT_UNDER_TEST, type KurrentLogUnderTest, startKurrent } from './kurrent-under-test.js';
import { startTcpProxy } from './tcp-proxy.js';

/** A single node that somebody else runs, and that holds what tests before this one wrote. */
const FOREIGN_URL = process.env.KURRENTDB_URL ?? null;

/** Where nobody names a server, one in a container, or the reason that there is none. */
const container = FOREIGN_URL || kurrentProgram() ? null : await import('./kurrent-container.js');
const missing = await container?.missingForContainer();

const underTest = (): string => {
  if (FOREIGN_URL) return 'the server of KURRENTDB_URL';
  if (container === null) return KURRENT_UNDER_TEST;
  return missing === null ? `${container.kurrentImage()} in a container` : `${KURRENT_UNDER_TEST}, as ${missing}`;
};

/** As `KURRENT_UNDER_TEST`, of `startKurrentLog`. */
export const KURRENT_LOG_UNDER_TEST = underTest();

/** For what tests a log, and not a service that takes it for its own. */
export const startKurrentLog = async (): Promise<KurrentLogUnderTest> => {
  if (FOREIGN_URL) return reach(FOREIGN_URL);
  if (container !== null && missing === null) return container.KurrentContainer.start();
  return startKurrent();
};

/** It cannot be ended, so the way to it is: whoever is connected sees the same. */
const reach = async (url: string): Promise<KurrentLogUnderTest> => {
  const proxy = await startTcpProxy(url);
  const gone = (): Promise<void> => Promise.resolve(proxy.interrupt());
  return {
    url: proxy.through(url),
    kill: gone,
    terminate: gone,
    start: () => Promise.resolve(proxy.resume()),
    hang: () => proxy.hang(),
    resume: () => proxy.resume(),
    backUp: () => Promise.resolve(null),
    close: () => proxy.close(),
  };
};
