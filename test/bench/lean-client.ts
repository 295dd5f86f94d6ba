import { connect, type Socket } from 'node:net';

/** What came back on the one request under way. */
export interface LeanAnswer {
  readonly status: number;
  readonly body: string;
}

const HEAD_END = '\r\n\r\n';

/**
 * One kept connection that sends the same bytes again and again, for a generator that shares the machine with what it
 * loads: a client of `node:http` takes several times the processor time. Answers must carry a Content-Length.
 */
export class LeanClient {
  private received: Buffer = Buffer.alloc(0);
  private settle: { resolve(answer: LeanAnswer): void; reject(error: Error): void } | null = null;

  private constructor(private readonly socket: Socket) {
    socket.on('data', (chunk) => this.read(chunk));
    const fail = (error?: Error): void => this.settle?.reject(error ?? new Error('the connection was closed'));
    socket.on('error', fail).on('close', () => fail());
  }

  static connect({ hostname, port }: URL): Promise<LeanClient> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new LeanClient(socket));
      });
    });
  }

  send(request: Buffer): Promise<LeanAnswer> {
    return new Promise((resolve, reject) => {
      if (this.socket.destroyed) return reject(new Error('the connection was closed between two requests'));
      this.settle = { resolve, reject };
      this.socket.write(request);
    });
  }

  close(): void {
    this.settle = null;
    this.socket.destroy();
  }

  private read(chunk: Buffer): void {
    this.received = this.received.length === 0 ? chunk : Buffer.concat([this.received, chunk]);
    const headEnd = this.received.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const head = this.received.toString('latin1', 0, headEnd);
    const bodyStart = headEnd + HEAD_END.length;
    const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1]);
    if (Number.isNaN(length)) return this.settle?.reject(new Error(`an answer without Content-Length: ${head}`));
    if (this.received.length < bodyStart + length) return;
    const body = this.received.toString('utf8', bodyStart, bodyStart + length);
    this.received = this.received.subarray(bodyStart + length);
    this.settle?.resolve({ status: Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length)), body });
  }
}

/** Kept connections for requests that may overlap: one is made where none waits. */
export class LeanClients {
  private readonly waiting: LeanClient[] = [];

  constructor(private readonly target: URL) {}

  async send(request: Buffer): Promise<LeanAnswer> {
    const client = this.waiting.pop() ?? (await LeanClient.connect(this.target));
    const answer = await client.send(request);
    this.waiting.push(client);
    return answer;
  }

  close(): void {
    for (const client of this.waiting) client.close();
  }
}

/** A request with a JSON body, as bytes. */
export const leanRequest = (method: string, target: string, headers: Record<string, string>, body = ''): Buffer => {
  const lines = Object.entries({ Host: 'bench', ...headers }).map(([name, value]) => `${name}: ${value}`);
  if (body !== '') lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`);
  return Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}${HEAD_END}${body}`);
};
