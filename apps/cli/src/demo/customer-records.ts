import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that reached the records, and whether it carried the token. */
export interface Arrival {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly isAuthorized: boolean;
}

const CUSTOMERS: Readonly<Record<string, object>> = {
  '42': { id: '42', name: 'Ada Lovelace', plan: 'team' },
  '7': { id: '7', name: 'Grace Hopper', plan: 'solo' },
};

/**
 * A customer-records API on a real socket: what agents are to work with, and only a token opens. It says of every change that
 * it is made, and changes no customer.
 */
export class CustomerRecords {
  /** Known to the records and, through the API, to the service's vault; to nobody else. */
  readonly token = `crm-${randomBytes(24).toString('base64url')}`;
  readonly arrivals: Arrival[] = [];
  private readonly server: Server;
  private held: (() => void) | null = null;

  constructor() {
    this.server = createServer((request, response) => {
      void this.answer(request, response);
    });
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Writes that arrived for a customer. */
  writesTo(customer: string): number {
    return this.arrivals.filter(({ method, path }) => method === 'POST' && path.includes(`/${customer}/`)).length;
  }

  /** The next request is written down and never answered. Resolves when it has arrived. */
  holdNext(): Promise<void> {
    return new Promise((resolve) => {
      this.held = resolve;
    });
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '' } = request;
    const body = await bodyOf(request);
    const isAuthorized = isEqual(request.headers.authorization ?? '', `Bearer ${this.token}`);
    this.arrivals.push({ method, path, body, isAuthorized });
    if (this.held) {
      this.held();
      this.held = null;
      return;
    }
    const customer = CUSTOMERS[path.split('/')[2] ?? ''];
    if (!isAuthorized) return send(response, 401, { error: 'who are you?' });
    if (!customer) return send(response, 404, { error: 'no such customer' });
    send(response, method === 'POST' ? 201 : 200, method === 'POST' ? { noted: true } : customer);
  }
}

const send = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
};

const isEqual = (actual: string, expected: string): boolean => {
  const [left, right] = [Buffer.from(actual), Buffer.from(expected)];
  return left.byteLength === right.byteLength && timingSafeEqual(left, right);
};
