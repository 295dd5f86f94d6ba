import { syncBuiltinESMExports } from 'node:module';
import net, { Socket, type TcpNetConnectOpts } from 'node:net';

import { vi } from 'vitest';

import { leadsHere } from './canary.js';

export interface Dials {
  /** Address and port of each since it was last asked, in their order. */
  take(): readonly string[];
  end(): void;
}

/**
 * A network of this machine alone. Its port 443, where a test may not listen, is the canary's, at the address that was
 * dialled; nobody answers at an address of another machine.
 */
export const watchDials = (canaryPort: number): Dials => {
  let made: string[] = [];
  const { connect } = net;
  const spy = vi.spyOn(net, 'connect').mockImplementation((options: unknown) => {
    const { host = '', port, ...others } = options as TcpNetConnectOpts;
    made.push(`${host} ${port}`);
    if (!leadsHere(host)) return new Socket().destroy(new Error('nobody answers there'));
    return connect({ ...others, host, port: port === 443 ? canaryPort : port });
  });
  // So that who imported the function by its name calls the spy, and later the function again.
  syncBuiltinESMExports();
  return {
    take: () => {
      const taken = made;
      made = [];
      return taken;
    },
    end: () => {
      spy.mockRestore();
      syncBuiltinESMExports();
    },
  };
};
