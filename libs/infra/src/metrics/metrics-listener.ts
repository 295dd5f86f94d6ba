import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ListenAddress } from '../config/index.js';

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const PATH = '/metrics';
/** A scrape is a line and a few headers; nobody needs longer for them. */
const HEADERS_TIMEOUT_MS = 5_000;
const MAX_HEADER_BYTES = 8_192;
const MAX_CONNECTIONS = 64;

/** Serves GET and HEAD /metrics without authentication on an address of its own (document 3, Metrics). */
export class MetricsListener {
  private readonly server: Server;

  constructor(metrics: { text(): Promise<string> }) {
    const limits = { headersTimeout: HEADERS_TIMEOUT_MS, maxHeaderSize: MAX_HEADER_BYTES };
    this.server = createServer(limits, (request, response) => {
      answer(metrics, request, response).catch(() => response.destroy());
    });
    this.server.maxConnections = MAX_CONNECTIONS;
  }

  /** @returns where it listens, as the system chose it for port 0 */
  async listen({ host, port }: ListenAddress): Promise<ListenAddress> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, host, () => {
        this.server.off('error', reject);
        resolve();
      });
    });
    const { address, port: chosen } = this.server.address() as AddressInfo;
    return new ListenAddress(address, chosen);
  }

  async close(): Promise<void> {
    if (!this.server.listening) return;
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }
}

const answer = async (
  metrics: { text(): Promise<string> },
  { method = '', url = '' }: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  response.setHeader('Cache-Control', 'no-store');
  if (url.split('?', 1)[0] !== PATH) return plain(response, 404, `Not found. Metrics are at ${PATH}.\n`);
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    return plain(response, 405, 'Use GET or HEAD.\n');
  }
  const text = await metrics.text();
  response.writeHead(200, { 'Content-Type': CONTENT_TYPE, 'Content-Length': Buffer.byteLength(text) });
  response.end(method === 'HEAD' ? undefined : text);
};

const plain = (response: ServerResponse, status: number, text: string): void => {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' }).end(text);
};
