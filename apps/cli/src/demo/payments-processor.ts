import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const VERSION = '2025-09-30.clover';
/** What was charged, in cents. */
const CHARGED = 12_000;
export const CHARGE = `ch_${'demo'.repeat(6)}`;
const DAY_S = 86_400;

interface Refund {
  readonly id: string;
  readonly object: 'refund';
  readonly amount: number;
  readonly currency: 'eur';
  readonly charge: string;
  readonly status: 'succeeded';
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * The sandbox of a payments processor on a real socket, with one charge: as much of the real one's interface as a refund needs.
 * One request under one Idempotency-Key is one refund, however often it comes.
 */
export class PaymentsProcessor {
  /** Known to the processor and, through the API, to the service's vault; to nobody else. */
  readonly key = `sk_test_${randomBytes(18).toString('hex')}`;
  readonly version = VERSION;
  readonly refunds: Refund[] = [];
  /** The Idempotency-Key of every refund that was asked for, in order. */
  readonly keys: string[] = [];
  private readonly byKey = new Map<string, Refund>();
  private isNextLost = false;
  private readonly server: Server;

  constructor() {
    this.server = createServer((request, response) => {
      void this.answer(request, response);
    });
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get refunded(): number {
    return this.refunds.reduce((sum, { amount }) => sum + amount, 0);
  }

  /** The next refund is made, and its answer breaks off. */
  loseNextAnswer(): void {
    this.isNextLost = true;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await textOf(request));
    const { method = '', headers } = request;
    const url = new URL(request.url ?? '/', 'http://processor');
    if (headers.authorization !== `Bearer ${this.key}`) return this.send(response, 401, fault('invalid_request_error'));
    if (method === 'POST' && url.pathname === '/v1/refunds') {
      const refund = this.refund(String(headers['idempotency-key']), form);
      if (!this.isNextLost) return this.send(response, 200, refund);
      this.isNextLost = false;
      return void response.destroy();
    }
    const found = method === 'GET' ? this.read(url) : null;
    return found === null ? this.send(response, 404, fault('invalid_request_error')) : this.send(response, 200, found);
  }

  private refund(key: string, form: URLSearchParams): Refund {
    this.keys.push(key);
    const known = this.byKey.get(key);
    if (known !== undefined) return known;
    const metadata = Object.fromEntries(
      [...form].flatMap(([name, value]) => {
        const [, member] = /^metadata\[(.+)\]$/.exec(name) ?? [];
        return member === undefined ? [] : [[member, value]];
      }),
    );
    const made: Refund = {
      ...{ id: `re_${randomBytes(12).toString('hex')}`, object: 'refund', amount: Number(form.get('amount')) },
      ...{ currency: 'eur', charge: CHARGE, status: 'succeeded', metadata },
    };
    this.refunds.push(made);
    this.byKey.set(key, made);
    return made;
  }

  private read({ pathname }: URL): object | null {
    const [, , kind, id] = pathname.split('/');
    if (kind === 'refunds' && id === undefined)
      return { object: 'list', data: this.refunds.toReversed(), has_more: false };
    if (kind === 'refunds') return this.refunds.find((refund) => refund.id === id) ?? null;
    if (kind !== 'charges' || id !== CHARGE) return null;
    const created = Math.floor(Date.now() / 1_000) - 3 * DAY_S;
    const money = { amount: CHARGED, amount_refunded: this.refunded, currency: 'eur' };
    return { id, object: 'charge', ...money, created, customer: 'cus_demo', disputed: false, livemode: false };
  }

  private send(response: ServerResponse, status: number, body: object): void {
    const headers = { 'content-type': 'application/json', 'stripe-version': VERSION };
    response.writeHead(status, headers).end(JSON.stringify(body));
  }
}

const fault = (type: string): object => ({ error: { type, message: 'No.' } });

const textOf = async (request: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const piece of request) text += String(piece);
  return text;
};
