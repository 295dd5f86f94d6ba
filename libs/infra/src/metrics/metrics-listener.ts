import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ListenAddress } from '../config/index.js';

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const METRICS_PATH = '/metrics';
const READY_PATH = '/ready';
/** A scrape is a line and a few headers; nobody needs longer for them. */
const HEADERS_TIMEOUT_MS = 5_000;
const MAX_HEADER_BYTES = 8_192;
const MAX_CONNECTIONS = 64;

/** How far a program is: ready from the end of its start, when its stores have answered and its loops run, to its stop. */
export type Readiness = 'starting' | 'ready' | 'draining';

/**
 * Serves GET and HEAD /metrics, and /ready for whoever supervises the process, without authentication on an address of
 * its own (rule OPS-3).
 */
export class MetricsListener {
  private readonly server: Server;
  readiness: Readiness = 'starting';

  constructor(metrics: { text(): Promise<string> }) {
    const limits = { headersTimeout: HEADERS_TIMEOUT_MS, maxHeaderSize: MAX_HEADER_BYTES };
    this.server = createServer(limits, (request, response) => {
      answer({ metrics, readiness: this.readiness }, request, response).catch(() => response.destroy());
    });
    this.server.maxConnections = MAX_CONNECTIONS;
    // A connection that the system has no file for is lost, and nothing else: without a listener it would end the process.
    this.server.on('error', () => undefined);
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
  { metrics, readiness }: { metrics: { text(): Promise<string> }; readiness: Readiness },
  { method = '', url = '' }: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  response.setHeader('Cache-Control', 'no-store');
  const [path] = url.split('?', 1);
  if (path !== METRICS_PATH && path !== READY_PATH) {
    return plain(response, 404, `Not found. There are ${METRICS_PATH} and ${READY_PATH}.\n`);
  }
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    return plain(response, 405, 'Use GET or HEAD.\n');
  }
  if (path === READY_PATH) return plain(response, readiness === 'ready' ? 200 : 503, `${readiness}\n`);
  const text = await metrics.text();
  response.writeHead(200, { 'Content-Type': CONTENT_TYPE, 'Content-Length': Buffer.byteLength(text) });
  response.end(method === 'HEAD' ? undefined : text);
};

const plain = (response: ServerResponse, status: number, text: string): void => {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' }).end(text);
};
