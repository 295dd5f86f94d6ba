import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A key of the wire's sandbox. */
export const WIRE_KEY = `sk_test_${createHash('sha256').update('payments-canary').digest('hex').slice(0, 32)}`;
export const WIRE_VERSION = '2025-09-30.clover';

/** One request as it arrived. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly form: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  /** As it was sent, before anything of it was read. */
  readonly body: string;
}

export interface WireAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The connection ends in the middle of the body. */
  readonly isCutOff?: true;
}

type Quirked = WireAnswer | 'drop' | 'answer_lost' | null;

/** What happens to a request instead of what the processor would do, or after it. Null: the processor answers. */
export type Quirk = (request: WireRequest, wire: PaymentsWire) => Quirked | Promise<Quirked>;

type Stored = Record<string, unknown> & { readonly id: string };

const error = (status: number, type: string, code: string | null, message = 'No.'): WireAnswer => ({
  status,
  body: { error: { type, ...(code === null ? {} : { code }), message } },
});

/**
 * A payments processor of the tests, which speaks the real one's format: form bodies, idempotency keys with their answers,
 * metadata, lists, expansion. Its books are the oracle: what is refunded here was refunded.
 */
export class PaymentsWire {
  readonly requests: WireRequest[] = [];
  readonly charges = new Map<string, Stored>();
  readonly customers = new Map<string, Stored>();
  readonly subscriptions = new Map<string, Stored>();
  readonly intents = new Map<string, Stored>();
  readonly refunds: Stored[] = [];
  readonly invoiceItems: Stored[] = [];
  /** Asked for each request, in the place of the one before. */
  quirk: Quirk = () => null;
  key = WIRE_KEY;
  version = WIRE_VERSION;
  /** By idempotency key: what was sent under it, and what was answered. */
  private readonly answered = new Map<string, { readonly digest: string; readonly answer: WireAnswer }>();
  private served = 0;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<PaymentsWire> {
    const server = createServer();
    const wire = new PaymentsWire(server);
    server.on('request', (request, response) => void wire.serve(request, response));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return wire;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  /** What was given back of a charge, by the books. */
  refunded(charge: string): number {
    return this.refunds
      .filter((refund) => refund['charge'] === charge && refund['status'] !== 'failed')
      .reduce((sum, refund) => sum + Number(refund['amount']), 0);
  }

  charge(changes: Readonly<Record<string, unknown>> = {}): string {
    const id = idOf('ch');
    const base = { object: 'charge', amount: 10_000, amount_refunded: 0, currency: 'eur', livemode: false };
    const about = { created: 1_790_000_000, customer: 'cus_1', disputed: false, payment_intent: null, metadata: {} };
    this.charges.set(id, { id, ...base, ...about, ...changes });
    return id;
  }

  intent(charge: string): string {
    const id = idOf('pi');
    this.intents.set(id, { id, object: 'payment_intent', livemode: false, latest_charge: charge, metadata: {} });
    const known = this.charges.get(charge);
    if (known !== undefined) this.charges.set(charge, { ...known, payment_intent: id });
    return id;
  }

  customer(): string {
    const id = idOf('cus');
    this.customers.set(id, { id, object: 'customer', livemode: false, metadata: {} });
    return id;
  }

  subscription(changes: Readonly<Record<string, unknown>> = {}): string {
    const id = idOf('sub');
    const price = {
      object: 'price',
      unit_amount: 2_000,
      livemode: false,
      recurring: { interval: 'month', interval_count: 1 },
    };
    const item = { object: 'subscription_item', quantity: 2, price, current_period_end: 1_800_000_000 };
    const items = { object: 'list', data: [item] };
    const base = { object: 'subscription', status: 'active', customer: 'cus_1', currency: 'eur', livemode: false };
    const end = { cancel_at_period_end: false, cancellation_details: { comment: null }, metadata: {} };
    this.subscriptions.set(id, { id, ...base, ...end, items, ...changes });
    return id;
  }

  private async serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const url = new URL(incoming.url ?? '/', this.baseUrl);
    const request: WireRequest = {
      ...{ method: incoming.method ?? '', path: url.pathname, query: url.searchParams },
      ...{ form: new URLSearchParams(body), headers: incoming.headers, body },
    };
    this.requests.push(request);
    const quirk = await this.quirk(request, this);
    if (quirk === 'drop') return void response.destroy();
    const answer = quirk === null || quirk === 'answer_lost' ? this.answerOf(request) : quirk;
    if (quirk === 'answer_lost') return void response.destroy();
    const headers = { 'Request-Id': `req_${(this.served += 1)}`, 'Stripe-Version': this.version, ...answer.headers };
    const isText = typeof answer.body === 'string';
    const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
    const length = answer.isCutOff === true ? { 'Content-Length': text.length + 1 } : {};
    const contentType = isText ? 'text/html' : 'application/json';
    response.writeHead(answer.status, { 'Content-Type': contentType, ...length, ...headers });
    if (answer.isCutOff === true) return void response.write(text, () => response.destroy());
    response.end(text);
  }

  /** As the processor: a key answers once, and the same again to the same request. */
  answerOf(request: WireRequest): WireAnswer {
    if (request.headers.authorization !== `Bearer ${this.key}`) return error(401, 'invalid_request_error', null);
    const key = request.headers['idempotency-key'];
    // A key has no effect on what is no POST.
    if (typeof key !== 'string' || request.method !== 'POST') return this.handle(request);
    const digest = createHash('sha256').update(`${request.method} ${request.path}\n${request.body}`).digest('hex');
    const before = this.answered.get(key);
    if (before !== undefined) {
      if (before.digest !== digest) return error(400, 'idempotency_error', null);
      return { ...before.answer, headers: { 'Idempotent-Replayed': 'true' } };
    }
    const answer = this.handle(request);
    if (answer.status < 500) this.answered.set(key, { digest, answer });
    return answer;
  }

  private handle({ method, path, query, form }: WireRequest): WireAnswer {
    const [, , kind = '', id] = path.split('/');
    if (method === 'GET') return id === undefined ? this.list(kind, query) : this.get(kind, id, query);
    if (method === 'POST' && kind === 'refunds') return this.refund(form);
    if (method === 'POST' && kind === 'invoiceitems') return this.bill(form);
    const stored = id === undefined ? undefined : this.booksOf(kind)?.get(id);
    if (stored === undefined || id === undefined) return missing();
    if (method === 'POST' && kind === 'customers')
      return this.store(kind, { ...stored, metadata: merged(stored, form) });
    if (method === 'POST' && kind === 'subscriptions') {
      const cancel_at_period_end = form.get('cancel_at_period_end') === 'true';
      return this.store(kind, { ...stored, cancel_at_period_end, metadata: merged(stored, form) });
    }
    if (method === 'DELETE' && kind === 'subscriptions') {
      if (stored['status'] === 'canceled') return missing();
      const comment = query.get('cancellation_details[comment]');
      return this.store(kind, { ...stored, status: 'canceled', cancellation_details: { comment } });
    }
    return missing();
  }

  private booksOf(kind: string): Map<string, Stored> | undefined {
    return {
      charges: this.charges,
      customers: this.customers,
      subscriptions: this.subscriptions,
      payment_intents: this.intents,
    }[kind];
  }

  private store(kind: string, object: Stored): WireAnswer {
    this.booksOf(kind)?.set(object.id, object);
    return { status: 200, body: object };
  }

  private get(kind: string, id: string, query: URLSearchParams): WireAnswer {
    const list = kind === 'refunds' ? this.refunds : kind === 'invoiceitems' ? this.invoiceItems : null;
    const found = list === null ? this.booksOf(kind)?.get(id) : list.find((item) => item.id === id);
    if (found === undefined) return missing();
    if (!query.getAll('expand[]').includes('latest_charge')) return { status: 200, body: this.asOfNow(found) };
    const charge = this.charges.get(String(found['latest_charge']));
    return { status: 200, body: { ...found, latest_charge: charge === undefined ? null : this.asOfNow(charge) } };
  }

  private asOfNow(object: Stored): Stored {
    return object['object'] === 'charge' ? { ...object, amount_refunded: this.refunded(object.id) } : object;
  }

  private list(kind: string, query: URLSearchParams): WireAnswer {
    const all =
      kind === 'refunds'
        ? this.refunds
        : kind === 'invoiceitems'
          ? this.invoiceItems
          : [...(this.booksOf(kind)?.values() ?? [])];
    const filters = ['charge', 'payment_intent', 'customer'].filter((name) => query.has(name));
    const data = all
      .filter((item) => filters.every((name) => item[name] === query.get(name)))
      .toReversed()
      .slice(0, Number(query.get('limit') ?? 10));
    return { status: 200, body: { object: 'list', data, has_more: false, url: `/v1/${kind}` } };
  }

  private refund(form: URLSearchParams): WireAnswer {
    const intent = this.intents.get(form.get('payment_intent') ?? '');
    const charge = this.charges.get(form.get('charge') ?? (intent?.['latest_charge'] as string | undefined) ?? '');
    if (charge === undefined) return missing();
    const amount = Number(form.get('amount'));
    if (amount > Number(charge['amount']) - this.refunded(charge.id)) {
      return error(400, 'invalid_request_error', 'charge_already_refunded');
    }
    const refund: Stored = {
      ...{
        id: idOf('re'),
        object: 'refund',
        amount,
        currency: charge['currency'],
        charge: charge.id,
        status: 'succeeded',
      },
      ...{ payment_intent: charge['payment_intent'], reason: form.get('reason'), metadata: merged({}, form) },
    };
    this.refunds.push(refund);
    return { status: 200, body: refund };
  }

  private bill(form: URLSearchParams): WireAnswer {
    const item: Stored = {
      ...{ id: idOf('ii'), object: 'invoiceitem', livemode: false, customer: form.get('customer') },
      ...{ amount: Number(form.get('amount')), currency: form.get('currency'), description: form.get('description') },
      ...{ parent: parentOf(form.get('subscription')), metadata: merged({}, form) },
    };
    this.invoiceItems.push(item);
    return { status: 200, body: item };
  }
}

const missing = (): WireAnswer => error(404, 'invalid_request_error', 'resource_missing');

const idOf = (prefix: string): string => `${prefix}_${randomBytes(12).toString('hex')}`;

/** Of an invoice item, since version 2025-03-31. */
const parentOf = (subscription: string | null): object | null =>
  subscription === null ? null : { type: 'subscription_details', subscription_details: { subscription } };

/** An empty text removes a member. */
const merged = (stored: Readonly<Record<string, unknown>>, form: URLSearchParams): Record<string, string> => {
  const metadata = { ...((stored['metadata'] ?? {}) as Record<string, string>) };
  for (const [name, value] of form) {
    const [, key] = /^metadata\[(.+)\]$/.exec(name) ?? [];
    if (key === undefined) continue;
    if (value === '') delete metadata[key];
    else metadata[key] = value;
  }
  return metadata;
};
