import { get, type ClientRequest, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { vi } from 'vitest';
import { SseParser, type SseMessage } from './sse-parser.js';

type Json = Readonly<Record<string, unknown>>;

/** An event object as it came. */
export interface StreamedEvent {
  readonly type: string;
  readonly id: string;
  readonly data: Json;
}

/** One open stream of GET /v1/events, read as fast as it comes unless it is told to stand. */
export class EventStreamClient {
  readonly parser = new SseParser();
  readonly messages: StreamedEvent[] = [];
  /** Every byte of the body so far. */
  bytes = '';
  hasEnded = false;

  private constructor(
    private readonly request: ClientRequest,
    readonly response: IncomingMessage,
  ) {
    response.on('data', (chunk: Buffer) => {
      this.bytes += chunk.toString('latin1');
      this.messages.push(...this.parser.feed(chunk).map(read));
    });
    response.once('close', () => {
      this.hasEnded = true;
    });
    response.on('error', () => undefined);
  }

  /** With the head of its answer, whatever that says. */
  static async open(url: string, headers: Readonly<Record<string, string>>, query = ''): Promise<EventStreamClient> {
    const request = get(`${url}/v1/events${query === '' ? '' : `?${query}`}`, { headers, agent: false });
    request.on('error', () => undefined);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return new EventStreamClient(request, response);
  }

  get hello(): Json {
    return this.messages.find(({ type }) => type === 'hello')?.data ?? {};
  }

  /** Without control messages. */
  get events(): readonly StreamedEvent[] {
    return this.messages.filter(({ data }) => data['object'] === 'event');
  }

  /** The messages once there are so many that fit. */
  async until(count: number, fits: (message: StreamedEvent) => boolean): Promise<readonly StreamedEvent[]> {
    return vi.waitFor(
      () => {
        const found = this.messages.filter(fits);
        if (found.length < count)
          throw new Error(`${found.length} of ${count} messages: ${JSON.stringify(this.types)}`);
        return found;
      },
      { timeout: 20_000, interval: 10 },
    );
  }

  untilType(type: string, count = 1): Promise<readonly StreamedEvent[]> {
    return this.until(count, (message) => message.type === type);
  }

  async untilEnded(): Promise<void> {
    await vi.waitFor(
      () => {
        if (!this.hasEnded) throw new Error(`still open: ${JSON.stringify(this.types)}`);
      },
      { timeout: 20_000, interval: 10 },
    );
  }

  get types(): readonly string[] {
    return this.messages.map(({ type }) => type);
  }

  /** Reads nothing more, as a client does that is stuck. */
  stand(): void {
    this.response.pause();
  }

  goOn(): void {
    this.response.resume();
  }

  close(): void {
    this.request.destroy();
  }
}

const read = ({ type, id, data }: SseMessage): StreamedEvent => ({ type, id, data: JSON.parse(data) as Json });
