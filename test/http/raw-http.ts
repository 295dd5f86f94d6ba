import { connect, type Socket } from 'node:net';

/** An answer as it came over the wire. Header names are in lower case; a repeated one keeps every value. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly body: string;
}

/** A connection that sends bytes as they are: what no well-behaved client would. */
export class RawConnection {
  private received = Buffer.alloc(0);
  private isEnded = false;
  private readonly wakers = new Set<() => void>();

  private constructor(readonly socket: Socket) {
    socket.on('data', (chunk) => {
      this.received = Buffer.concat([this.received, chunk]);
      this.wake();
    });
    socket.on('drain', () => this.wake());
    // A reset is one of the ways in which a connection ends.
    socket.on('error', () => this.end());
    socket.on('end', () => this.end());
    socket.on('close', () => this.end());
  }

  static async open(port: number): Promise<RawConnection> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve).once('error', reject);
    });
    return new RawConnection(socket);
  }

  send(text: string | Uint8Array): void {
    this.socket.write(typeof text === 'string' ? Buffer.from(text, 'latin1') : text);
  }

  /** Until the socket takes more, or the server has ended the connection. */
  async flushed(): Promise<void> {
    await this.until(() => this.isEnded || !this.socket.writableNeedDrain);
  }

  /** Everything until the server closes. */
  async untilClosed(): Promise<string> {
    await this.until(() => this.isEnded);
    return this.received.toString('latin1');
  }

  get isClosed(): boolean {
    return this.isEnded;
  }

  /** The next answer. `isHead` for the answer to a HEAD, which announces a body that does not come. */
  async answer({ isHead = false } = {}): Promise<RawAnswer> {
    await this.until(() => this.isEnded || this.received.includes('\r\n\r\n'));
    const end = this.received.indexOf('\r\n\r\n');
    if (end < 0) throw new Error(`the connection ended without an answer: ${this.received.toString('latin1')}`);
    const [statusLine = '', ...lines] = this.received.subarray(0, end).toString('latin1').split('\r\n');
    this.received = this.received.subarray(end + 4);
    const headers = new Map<string, string[]>();
    for (const line of lines) {
      const colon = line.indexOf(':');
      const name = line.slice(0, colon).toLowerCase();
      headers.set(name, [...(headers.get(name) ?? []), line.slice(colon + 1).trim()]);
    }
    const status = Number(statusLine.split(' ')[1]);
    const length = isHead || status === 204 || status === 304 ? 0 : Number(headers.get('content-length')?.[0] ?? 0);
    await this.until(() => this.isEnded || this.received.byteLength >= length);
    const body = this.received.subarray(0, length).toString('utf8');
    this.received = this.received.subarray(length);
    return { status, headers, body };
  }

  close(): void {
    this.socket.destroy();
  }

  private async until(isReached: () => boolean): Promise<void> {
    while (!isReached()) await new Promise<void>((resolve) => this.wakers.add(resolve));
  }

  private end(): void {
    this.isEnded = true;
    this.wake();
  }

  private wake(): void {
    for (const wake of this.wakers) wake();
    this.wakers.clear();
  }
}

/** One request on a connection of its own, and its answer. */
export const sendRaw = async (port: number, request: string): Promise<RawAnswer> => {
  const connection = await RawConnection.open(port);
  try {
    connection.send(request);
    return await connection.answer({ isHead: request.startsWith('HEAD ') });
  } finally {
    connection.close();
  }
};

export const errorOf = (answer: { readonly body: string }): Record<string, unknown> =>
  (JSON.parse(answer.body) as { error: Record<string, unknown> }).error;
