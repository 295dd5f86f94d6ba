import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A client's connection and its continuation to the server. */
type Pair = readonly [Socket, Socket];

/** The port that clients know, in front of a server in this process: what happens to a process is done to it. */
export class TcpFront {
  private server: Server | null = null;
  private readonly pairs = new Set<Pair>();
  private isHung = false;
  private knownPort = 0;

  constructor(private readonly serverPort: () => number) {}

  get port(): number {
    return this.knownPort;
  }

  get isListening(): boolean {
    return this.server !== null;
  }

  /** On the port of the last time. */
  async listen(): Promise<void> {
    const server = createServer({ noDelay: true }, (client) => this.connect(client));
    server.listen(this.knownPort, '127.0.0.1');
    await once(server, 'listening');
    this.server = server;
    this.knownPort = (server.address() as AddressInfo).port;
  }

  /** As by kill -9. */
  async kill(): Promise<void> {
    const { server } = this;
    if (!server) return;
    this.server = null;
    this.isHung = false;
    this.pairs.forEach(end);
    this.pairs.clear();
    server.close();
    await once(server, 'close');
  }

  /** As by SIGSTOP: connections are taken, and what they say waits. */
  hang(): void {
    this.isHung = true;
    this.pairs.forEach((pair) => pair.forEach((socket) => socket.pause()));
  }

  resume(): void {
    this.isHung = false;
    this.pairs.forEach((pair) => pair.forEach((socket) => socket.resume()));
  }

  /** Ends one connection: `peer` is its client as the server sees it. */
  cut(peer: string): void {
    for (const pair of this.pairs) if (peer.endsWith(`:${pair[1].localPort}`)) end(pair);
  }

  /** Whether that client's connection still stands: it is known here before the server behind hears of it. */
  isOpen(peer: string): boolean {
    return [...this.pairs].some(([, server]) => peer.endsWith(`:${server.localPort}`));
  }

  private connect(client: Socket): void {
    const server = connect({ port: this.serverPort(), host: '127.0.0.1', noDelay: true });
    const pair = [client, server] as const;
    this.pairs.add(pair);
    for (const [from, to] of [pair, [server, client] as const]) {
      from.on('data', (chunk) => to.write(chunk));
      from.on('error', () => end(pair));
      from.on('close', () => {
        this.pairs.delete(pair);
        end(pair);
      });
      if (this.isHung) from.pause();
    }
    client.on('end', () => this.pairs.delete(pair));
  }
}

const end = (pair: Pair): void => pair.forEach((socket) => socket.destroy());
