import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Members = Readonly<Record<string, unknown>>;

/** Of an order or a product: for what its last digits stand in the story. */
export const ODD = {
  /** A product whose new price is acknowledged and never stored. */
  stuck: 'p-713',
  /** An order that was refunded already. */
  refunded: 'o-48213',
  /** An order at which the shop breaks off, so that nobody knows what it did. */
  silent: 'o-48991',
} as const;

/** The shop and the customer records of a company that does not exist, on a real socket. */
export class InventedShop {
  private readonly server: Server;
  private readonly prices = new Map<string, number>();
  private readonly plans = new Map<string, string>();

  constructor() {
    this.server = createServer((request, response) => void this.answer(request, response));
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, kind = '', id = '', part = ''] = (request.url ?? '').split('/');
    const body = await bodyOf(request);
    const isRead = request.method === 'GET';
    if (id === ODD.silent && !isRead) return void response.destroy();
    if (kind === 'orders' && part === 'refunds') return this.refund(id, body, response);
    if (kind === 'orders') return send(response, 200, { id, status: 'delivered', total: 12_990, currency: 'eur' });
    if (kind === 'products') return this.product(id, isRead ? null : body, response);
    this.customer(id, isRead ? null : body, response);
  }

  private refund(id: string, { amount }: Members, response: ServerResponse): void {
    if (id === ODD.refunded) return send(response, 409, { error: 'this order is refunded already' });
    send(response, 201, { id: `r-${id.slice(2)}`, order: id, amount, currency: 'eur', status: 'pending' });
  }

  private product(id: string, change: Members | null, response: ServerResponse): void {
    if (typeof change?.['price'] === 'number' && id !== ODD.stuck) this.prices.set(id, change['price']);
    send(response, 200, { id, price: change?.['price'] ?? this.prices.get(id) ?? 4_990, currency: 'eur' });
  }

  private customer(id: string, change: Members | null, response: ServerResponse): void {
    if (typeof change?.['plan'] === 'string') this.plans.set(id, change['plan']);
    send(response, 200, { id, plan: this.plans.get(id) ?? 'basic', since: '2024-03-11' });
  }
}

const send = (response: ServerResponse, status: number, body: object): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

const bodyOf = async (request: IncomingMessage): Promise<Members> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  return text === '' ? {} : (JSON.parse(text) as Members);
};
