import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

const HEAD_END = '\r\n\r\n';
const BODY = '{"ok":true}';
const ANSWER = Buffer.from(
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}${HEAD_END}${BODY}`,
);

/** Told of a request when its answer was written, `tookMs` after its last byte had come. */
export type OnAnswered = (head: string, tookMs: number) => void;

/**
 * An upstream that answers every request the same, for a generator that shares the machine with what it loads: a server of
 * `node:http` takes several times the processor time. Requests must carry a Content-Length.
 */
export class LeanUpstream {
  private readonly sockets = new Set<Socket>();
  private onAnswered: OnAnswered | null = null;

  private constructor(private readonly server: Server) {
    server.on('connection', (socket) => this.serve(socket));
  }

  static async start(): Promise<LeanUpstream> {
    const server = createServer({ noDelay: true });
    const upstream = new LeanUpstream(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return upstream;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** @param onAnswered null: nobody asks any more */
  watch(onAnswered: OnAnswered | null): void {
    this.onAnswered = onAnswered;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private serve(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket)).on('error', () => socket.destroy());
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      const headEnd = received.indexOf(HEAD_END);
      if (headEnd < 0) return;
      const head = received.slice(0, headEnd);
      const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1]);
      if (Number.isNaN(length)) return void socket.destroy(new Error(`a request without Content-Length: ${head}`));
      const end = headEnd + HEAD_END.length + length;
      if (received.length < end) return;
      received = received.slice(end);
      this.answer(socket, head);
    });
  }

  private answer(socket: Socket, head: string): void {
    const { onAnswered } = this;
    if (onAnswered === null) return void socket.write(ANSWER);
    const begun = performance.now();
    socket.write(ANSWER, () => onAnswered(head, performance.now() - begun));
  }
}
