import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { Bus } from '#libs/domain/kernel';
import { InProcessBus } from '../runtime/index.js';
import { closeRedis, connectRedis, type RedisEndpoint } from './redis-connection.js';

export interface RedisBusOptions extends RedisEndpoint {
  /** Apart from other deployments on the same server. */
  readonly keyspace: string;
}

/** What is not sent by then is not worth sending: whoever waits has looked for himself. */
const PUBLISH_TIMEOUT_MS = 2_000;
/** An open connection that says nothing is asked this often whether it still is one. */
const PING_INTERVAL_MS = 2_000;
const PING_TIMEOUT_MS = 4_000;

/**
 * Wake-ups between processes by Redis pub/sub. Listeners of the publisher's own process are told without it, so what one
 * process does by itself never waits for Redis. All messages of a deployment go through one channel that every process
 * with a listener follows all the time: a subscription of each waiting request would miss what comes while it is made.
 * A message that is lost costs latency alone: whoever waits reads again every second.
 */
export class RedisBus extends Bus {
  private readonly local: InProcessBus;
  private readonly publisher: Redis;
  private readonly subscriber: Redis;
  private readonly topic: string;
  /** Tells its own messages from those of others. */
  private readonly origin = randomBytes(8).toString('hex');
  private pinging: NodeJS.Timeout | null = null;

  constructor({ keyspace, ...endpoint }: RedisBusOptions) {
    super();
    this.local = new InProcessBus(endpoint.log);
    this.topic = `${keyspace}:bus`;
    this.publisher = connectRedis(endpoint, 'bus publisher', {
      commandTimeout: PUBLISH_TIMEOUT_MS,
      // What was queued while it was away goes with the next failure to connect: memory stays bounded.
      maxRetriesPerRequest: 0,
    });
    this.subscriber = connectRedis(endpoint, 'bus subscriber', { socketTimeout: PING_TIMEOUT_MS });
    this.subscriber.on('message', (_topic, text) => this.hear(text));
  }

  publish(channel: string, message: string): void {
    this.local.publish(channel, message);
    const text = JSON.stringify([this.origin, channel, message]);
    // The connection reports by itself that it is away.
    this.publisher.publish(this.topic, text).catch(() => undefined);
  }

  subscribe(channel: string, listener: (message: string) => void): () => void {
    if (this.pinging === null) this.follow();
    return this.local.subscribe(channel, listener);
  }

  async close(): Promise<void> {
    if (this.pinging !== null) clearInterval(this.pinging);
    await Promise.all([closeRedis(this.publisher), closeRedis(this.subscriber)]);
  }

  /** Once, by the first who listens; the client subscribes again whenever it has been connected anew. */
  private follow(): void {
    this.subscriber.subscribe(this.topic).catch(() => undefined);
    this.pinging = setInterval(() => {
      if (this.subscriber.status === 'ready') this.subscriber.ping().catch(() => undefined);
    }, PING_INTERVAL_MS);
    this.pinging.unref();
  }

  private hear(text: string): void {
    const message = messageIn(text);
    if (message !== null && message.origin !== this.origin) this.local.publish(message.channel, message.text);
  }
}

/** Null for what no process of ours has written. */
const messageIn = (text: string): { origin: string; channel: string; text: string } | null => {
  try {
    const parts = JSON.parse(text) as unknown;
    if (!Array.isArray(parts) || parts.length !== 3 || !parts.every((part) => typeof part === 'string')) return null;
    const [origin, channel, message] = parts as [string, string, string];
    return { origin, channel, text: message };
  } catch {
    return null;
  }
};
