import { type AddressInfo, createServer, type Server, Socket } from 'node:net';
import { networkInterfaces } from 'node:os';

import { httpAnswer } from '../../../../../test/support/raw-upstream.js';

/** Listens on every address of this machine, both families, and counts whatever arrives. */
export class Canary {
  private connections = 0;
  private bytes = 0;
  private readonly sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {}

  static async listen(port = 0): Promise<Canary> {
    const server = createServer();
    const canary = new Canary(server);
    server.on('connection', (socket) => {
      canary.count(socket);
    });
    await new Promise<void>((resolve) => server.listen(port, '::', resolve));
    return canary;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Since it was last asked. Knocks itself: whoever came before has been counted by the time that is answered. */
  async heard(): Promise<readonly [connections: number, bytes: number]> {
    await knock(this.port);
    const heard = [this.connections - 1, this.bytes] as const;
    this.connections = 0;
    this.bytes = 0;
    return heard;
  }

  close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private count(socket: Socket): void {
    this.connections += 1;
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => (this.bytes += chunk.byteLength));
    socket.once('data', () => socket.end(httpAnswer(200, 'heard', { Connection: 'close' })));
  }
}

const knock = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = new Socket().on('error', reject).on('close', () => resolve());
    // Not by `net.connect`, which counts as a dial.
    socket.connect(port, '127.0.0.1').resume().end();
  });

/** How a URL writes it, the same for every way to write an address. */
export const canonical = (host: string): string =>
  new URL(`http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}`).hostname;

/** Loopback and "any address", which Linux and macOS take for it; the socket sees through `::ffff:0:0/96`. */
const LOOPBACK = ['127.0.0.1', '0.0.0.0', '::1', '::', '::ffff:127.0.0.1', '::ffff:0.0.0.0'];

/** Loopback, RFC 1918 and unique local. A public address is no secret, and no URL holds the zone of a link-local one. */
const INNER = /^(?:10|127|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.|^::1$|^f[cd]/;

/** Of the interfaces, what lies inside. */
export const innerAddresses = (): readonly string[] =>
  Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .map(({ address }) => address)
    .filter((address) => INNER.test(address));

/** Where this machine hears what it sends: a canary is there whenever a door is left open. */
export const addressesHere = (): readonly string[] => [
  ...new Set([...LOOPBACK, ...innerAddresses()].map(canonical).map((host) => host.replace(/^\[(.*)\]$/, '$1'))),
];

/** An address in any of the ways a URL may write it. */
export const leadsHere = (host: string): boolean => addressesHere().map(canonical).includes(canonical(host));
