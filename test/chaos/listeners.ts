import { once } from 'node:events';
import { get, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { SseParser, type SseMessage } from '../support/sse-parser.js';
import { startUpstream, type SeenRequest, type Upstream } from '../support/upstream.js';
import type { ChaosTarget } from './chaos-target.js';
import { membersOf, textOf } from './dossier.js';
import type { Arrival, HeardWebhook, Told } from './evidence.js';
import { REDIRECTED_PATH } from './invariants/told.js';

/**
 * `moody`: of every ten events one is refused, broken off or redirected at its first attempt. Of 256 one is left without an
 * answer, which keeps one of the four places of the endpoint for ten seconds.
 */
export type Manner = 'steady' | 'moody';

const COME_AGAIN_MS = 100;
const DRIP_MS = 300;

type Answerable = Omit<Arrival, 'answered'> & { answered: number | null };

/** What listens to a service from outside: receivers of webhooks, and a reader of the event stream that always comes back. */
export class Listeners {
  /** Said by whoever orders faults. */
  isUnderFault = false;
  private readonly webhooks: HeardWebhook[] = [];
  private readonly arrivals: Answerable[] = [];
  private readonly seenOnce = new Set<string>();
  private readonly reader: StreamReader;

  private constructor(
    service: ChaosTarget,
    private readonly receiver: { upstream?: Upstream },
  ) {
    this.reader = new StreamReader(service);
  }

  static async start(service: ChaosTarget, manners: readonly Manner[]): Promise<Listeners> {
    const receiver: { upstream?: Upstream } = {};
    const listeners = new Listeners(service, receiver);
    const upstream = await startUpstream((seen, response) => listeners.take(seen, response));
    receiver.upstream = upstream;
    for (const manner of manners) {
      const body = { url: `${upstream.baseUrl}/${manner}`, events: ['*'] };
      const { status, json, text } = await service.call('POST', '/v1/webhooks', { key: service.adminKey, body });
      if (status !== 201) throw new Error(`a webhook was answered with ${status}: ${text}`);
      listeners.webhooks.push({ id: textOf(json['id']), secret: textOf(json['secret']) });
    }
    await listeners.reader.begin();
    return listeners;
  }

  get told(): Told {
    return { webhooks: this.webhooks, arrivals: this.arrivals, streams: this.reader.streams };
  }

  /** All that was heard, for whoever looks for what must not be told. */
  get heard(): string {
    const bodies = this.arrivals.map(({ body, signature }) => `${signature} ${body}`);
    return [...bodies, ...this.reader.texts].join('\n');
  }

  async close(): Promise<void> {
    this.reader.close();
    await this.receiver.upstream?.close();
  }

  private take({ path, headers, body }: SeenRequest, response: ServerResponse): void {
    const arrival: Answerable = {
      path,
      webhook: String(headers['service-webhook-id']),
      event: String(headers['service-event-id']),
      signature: String(headers['service-signature']),
      body,
      isUnderFault: this.isUnderFault,
      answered: null,
    };
    this.arrivals.push(arrival);
    response.once('finish', () => (arrival.answered = response.statusCode));
    const isFirst = !this.seenOnce.has(`${path} ${arrival.event}`);
    this.seenOnce.add(`${path} ${arrival.event}`);
    if (path === '/moody' && isFirst) badly(arrival.event, response);
    else response.writeHead(204).end();
  }
}

/** By the end of an id, of whose characters each is one of 32. */
const badly = (event: string, response: ServerResponse): void => {
  const mark = event.at(-1);
  if (/[0-3]3$/.test(event)) return;
  if (mark === '0') response.writeHead(500).end();
  else if (mark === '1') response.destroy();
  else if (mark === '2') response.writeHead(307, { location: REDIRECTED_PATH }).end();
  else if (mark === '4') void drip(response);
  else response.writeHead(204).end();
};

/** Whole in the end. */
const drip = async (response: ServerResponse): Promise<void> => {
  response.writeHead(200, { 'content-length': '3' });
  for (const byte of 'ok\n') {
    await delay(DRIP_MS);
    response.write(byte);
  }
  response.end();
};

/** Reads every event, from one process at a time, and goes on where it was whenever that breaks. */
class StreamReader {
  readonly texts: string[] = [];
  private readonly told: string[][] = [];
  private lastEventId = '';
  private request: ClientRequest | null = null;
  private isClosed = false;
  private turn = 0;

  constructor(private readonly service: ChaosTarget) {}

  get streams(): readonly (readonly string[])[] {
    return this.told.filter((events) => events.length > 0);
  }

  /** Resolves with the first `hello`. */
  async begin(): Promise<void> {
    await new Promise<void>((resolve) => void this.readOn(resolve));
  }

  close(): void {
    this.isClosed = true;
    this.request?.destroy();
  }

  private async readOn(onHello: () => void): Promise<void> {
    while (!this.isClosed) {
      // A connection that breaks is no fault of a run that kills.
      await this.readOnce(onHello).catch(() => null);
      await delay(COME_AGAIN_MS);
    }
  }

  private async readOnce(onHello: () => void): Promise<void> {
    const { baseUrls, adminKey } = this.service;
    const headers = {
      Authorization: `Bearer ${adminKey}`,
      ...(this.lastEventId === '' ? {} : { 'Last-Event-ID': this.lastEventId }),
    };
    this.request = get(`${baseUrls[(this.turn += 1) % baseUrls.length] ?? ''}/v1/events`, { headers, agent: false });
    const [response] = (await once(this.request, 'response')) as [IncomingMessage];
    if (response.statusCode !== 200) {
      response.resume();
      return;
    }
    const parser = new SseParser();
    for await (const chunk of response) {
      for (const message of parser.feed(chunk as Buffer)) this.take(message, onHello);
      if (parser.lastEventId !== '') this.lastEventId = parser.lastEventId;
    }
  }

  private take({ type, data }: SseMessage, onHello: () => void): void {
    this.texts.push(data);
    const said = membersOf(JSON.parse(data));
    if (type === 'hello') onHello();
    if (type === 'resync' || (type === 'hello' && said['resumed'] !== true)) this.told.push([]);
    if (said['object'] === 'event') this.told.at(-1)?.push(textOf(said['id']));
  }
}
