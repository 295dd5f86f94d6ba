import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type Lie = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** What answers where a witness should be, as a test says. */
export class LyingWitness {
  /** Bodies of what was asked, in order. */
  readonly asked: string[] = [];
  lie: Lie = (_, response) => response.writeHead(500).end();
  private readonly server = createServer((request, response) => {
    void text(request).then((body) => {
      if (request.method === 'POST') this.asked.push(body);
      this.lie(request, response, body);
    });
  });

  static async start(): Promise<LyingWitness> {
    const witness = new LyingWitness();
    await new Promise<void>((resolve) => witness.server.listen(0, '127.0.0.1', resolve));
    return witness;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
