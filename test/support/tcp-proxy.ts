import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Stands between a client and a server, and fails as networks do. */
export interface TcpProxy {
  /** The same address, by way of the proxy. */
  through(connectionString: string): string;
  /** Takes the next thing the server says and ends the connection instead of handing it on. Resolves when that happened. */
  cutNextAnswer(): Promise<void>;
  /** From now on nothing the server says on the connections of this moment arrives, and they stay open. */
  swallowAnswers(): void;
  /** As `swallowAnswers`, and for every connection that is made until `resume` too. */
  hang(): void;
  /** Of the connections of this moment nothing arrives any more on either side, nor that the other one has ended. */
  part(): void;
  /** Ends all connections and takes none until `resume`. */
  interrupt(): void;
  resume(): void;
  /** From now on every answer arrives so much later. */
  slow(latencyMs: number): void;
  /** Ends all connections; whoever dials from now on is led to that server. */
  leadTo(connectionString: string): void;
  close(): Promise<void>;
}

export const startTcpProxy = async (connectionString: string): Promise<TcpProxy> => {
  let upstream = new URL(connectionString);
  const pairs = new Set<readonly [Socket, Socket]>();
  const swallowed = new Set<Socket>();
  const parted = new Set<readonly [Socket, Socket]>();
  let isOpen = true;
  let isHung = false;
  let latencyMs = 0;
  let onCut: (() => void) | null = null;

  const server = createServer((client) => {
    client.on('error', () => client.destroy());
    if (!isOpen) return void client.destroy();
    const remote = connect(Number(upstream.port), upstream.hostname);
    const pair = [client, remote] as const;
    pairs.add(pair);
    if (isHung) swallowed.add(remote);
    const answers = inOrder((chunk) => client.write(chunk));
    const end = (): void => {
      if (parted.has(pair)) return;
      pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    remote.on('error', end).on('close', end);
    client.on('error', end).on('close', end);
    client.on('data', (chunk) => {
      if (!parted.has(pair)) remote.write(chunk);
    });
    remote.on('data', (chunk) => {
      if (parted.has(pair)) return;
      if (onCut) {
        onCut();
        onCut = null;
        end();
      } else if (!swallowed.has(remote)) answers.after(latencyMs, chunk);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endAll = (): void => pairs.forEach((pair) => pair.forEach((socket) => socket.destroy()));

  return {
    through: (address) => {
      const proxied = new URL(address);
      proxied.port = String((server.address() as AddressInfo).port);
      return proxied.href;
    },
    cutNextAnswer: () => new Promise((resolve) => (onCut = resolve)),
    swallowAnswers: () => pairs.forEach(([, remote]) => swallowed.add(remote)),
    part: () => pairs.forEach((pair) => parted.add(pair)),
    interrupt: () => {
      isOpen = false;
      endAll();
    },
    hang: () => {
      isHung = true;
      pairs.forEach(([, remote]) => swallowed.add(remote));
    },
    resume: () => {
      isOpen = true;
      isHung = false;
    },
    slow: (ms) => {
      latencyMs = ms;
    },
    leadTo: (address) => {
      upstream = new URL(address);
      endAll();
    },
    close: async () => {
      endAll();
      server.close();
      await once(server, 'close');
    },
  };
};

/** Hands chunks on, each so much later, and none before the one that came before it. */
const inOrder = (handOn: (chunk: Buffer) => void): { after(latencyMs: number, chunk: Buffer): void } => {
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();
  return {
    after: (latencyMs, chunk) => {
      if (latencyMs === 0 && waiting === 0) return handOn(chunk);
      waiting += 1;
      const due = latencyMs === 0 ? null : delay(latencyMs);
      last = Promise.all([last, due]).then(() => {
        waiting -= 1;
        handOn(chunk);
      });
    },
  };
};
