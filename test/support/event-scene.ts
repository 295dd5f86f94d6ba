import { expect } from 'vitest';
import { Furnisher } from '../http/access-matrix/furniture.js';
import { EventStreamClient, type StreamedEvent } from './event-stream-client.js';
import { type Browser, PeopleBench } from './people-bench.js';

type Json = Record<string, unknown>;

export interface AgentKey {
  readonly agent: string;
  readonly headers: Record<string, string>;
}

/** The whole service in this process, with an owner who is signed in, and the streams that a test opens on it. */
export class EventScene {
  private readonly opened: EventStreamClient[] = [];

  private constructor(
    readonly bench: PeopleBench,
    readonly owner: Browser,
    readonly furnisher: Furnisher,
  ) {}

  static async start(): Promise<EventScene> {
    const bench = await PeopleBench.start();
    await bench.giveAddress(bench.owner, 'owner@example.com');
    const owner = await bench.ownerBrowser();
    return new EventScene(bench, owner, new Furnisher(bench, owner));
  }

  /** An agent, and a key of its own. */
  async agentKey(name: string, scopes = ['actions:execute', 'actions:read']): Promise<AgentKey> {
    const made = await this.furnisher.make('POST', '/v1/agents', { name, key: { scopes } });
    const secret = (made['key'] as { secret?: string }).secret ?? made['secret'];
    return { agent: String(made['id']), headers: { Authorization: `Bearer ${String(secret)}` } };
  }

  /** A stream that has said hello. */
  async open(headers: Record<string, string>, query = ''): Promise<EventStreamClient> {
    const stream = await this.answered(headers, query);
    expect(stream.response.statusCode).toBe(200);
    await stream.untilType('hello');
    return stream;
  }

  /** One that may have been refused. */
  async answered(headers: Record<string, string>, query = ''): Promise<EventStreamClient> {
    const stream = await EventStreamClient.open(this.bench.url, headers, query);
    this.opened.push(stream);
    return stream;
  }

  /** A call that the policy refuses: recorded and sealed when it is answered. */
  async act({ headers }: AgentKey): Promise<string> {
    const { error } = await this.bench.browser().post('/v1/actions', { tool: 'nobody.nothing', args: {} }, headers);
    return (error['action'] as { id: string }).id;
  }

  async setStatus({ agent }: AgentKey, ...changes: readonly ('stop' | 'resume')[]): Promise<void> {
    for (const change of changes) await this.furnisher.make('POST', `/v1/agents/${agent}/${change}`, { reason: 'r' });
  }

  closeStreams(): void {
    for (const stream of this.opened.splice(0)) stream.close();
  }
}

export const cookiesOf = (browser: Browser): Record<string, string> => ({ Cookie: browser.jar });

export const objectOf = ({ data }: StreamedEvent): Json => (data['data'] as { object: Json }).object;

/** Whether an event is about an action, or its deed. */
export const isAbout =
  (id: string) =>
  ({ data }: StreamedEvent): boolean =>
    data['object'] === 'event' && JSON.stringify(data).includes(id);
