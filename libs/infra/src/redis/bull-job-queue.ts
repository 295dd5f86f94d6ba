import { setTimeout as delay } from 'node:timers/promises';
import { Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { ForeseenFault, type JobConsumer, JobQueue, type Meter, NO_METER, type QueueName } from '#libs/domain/kernel';
import { reportedJob } from '../runtime/index.js';
import { atMost, closeRedis, connectRedis, type RedisEndpoint } from './redis-connection.js';

export interface BullJobQueueOptions extends RedisEndpoint {
  /** Apart from other deployments on the same server. */
  readonly keyspace: string;
  readonly meter?: Meter;
  /** How often a consumer looks whether jobs wait that it should have taken. */
  readonly watchIntervalMs?: number;
}

/** Redis did not take a job, or does not say how many wait. Nothing is lost: a sweeper finds the work again. */
export class JobQueueUnavailable extends ForeseenFault {
  override readonly name = 'JobQueueUnavailable';
}

interface Job {
  readonly id: string;
}

type Handler = (id: string) => Promise<void>;

/** An agent waits for the answer of whoever adds. */
const ADD_TIMEOUT_MS = 1_000;
/** One try, and nothing kept: what happened stands in the log. */
const JOB_OPTIONS = { attempts: 1, removeOnComplete: true, removeOnFail: true } as const;
const WATCH_INTERVAL_MS = 2_000;
/** Acknowledgements of jobs that are over; without them Redis gives the jobs up by itself. */
const CLOSING_TIMEOUT_MS = 2_000;

/**
 * Jobs of several processes on Redis, by BullMQ. A job has no id of BullMQ's that could be compared with an earlier one's:
 * it would be ignored as long as that one exists in any state, also as a job whose worker was killed. So an id may wait more
 * than once; whoever takes a job claims its work in the event store first.
 */
export class BullJobQueue extends JobQueue {
  private readonly producer: Redis;
  private readonly queues = new Map<QueueName, Queue<Job>>();
  private readonly prefix: string;
  /** Known to be; before the first answer it is not known. */
  private isAway = false;

  constructor(private readonly options: BullJobQueueOptions) {
    super();
    this.prefix = `${options.keyspace}:jobs`;
    this.producer = connectRedis(options, 'jobs producer', {
      commandTimeout: ADD_TIMEOUT_MS,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
    });
    this.producer.on('ready', () => (this.isAway = false)).on('close', () => (this.isAway = true));
  }

  /** @throws {JobQueueUnavailable} at once while Redis is known to be away, and after a second where it does not answer */
  async add(queue: QueueName, id: string): Promise<void> {
    const bull = this.opened(queue);
    await answered(bull.add(queue, { id }, JOB_OPTIONS));
  }

  /** @throws {JobQueueUnavailable} */
  async depth(): Promise<number> {
    const waiting = [...this.queues.keys()].map((queue) => answered(this.opened(queue).getWaitingCount()));
    return (await Promise.all(waiting)).reduce((sum, count) => sum + count, 0);
  }

  process(queue: QueueName, concurrency: number, handler: Handler): JobConsumer {
    const { log, meter = NO_METER, watchIntervalMs = WATCH_INTERVAL_MS } = this.options;
    this.queueNamed(queue);
    const job = reportedJob(queue, handler, log, meter);
    return new BullConsumer(this.options, this.prefix, { queue, concurrency, watchIntervalMs }, job);
  }

  async close(): Promise<void> {
    for (const bull of this.queues.values()) bull.disconnect().catch(() => undefined);
    await closeRedis(this.producer);
  }

  /** Calls that wait for a connection would pile up as long as there is none. */
  private opened(queue: QueueName): Queue<Job> {
    if (this.isAway) throw new JobQueueUnavailable('Redis is away');
    return this.queueNamed(queue);
  }

  private queueNamed(queue: QueueName): Queue<Job> {
    const known = this.queues.get(queue);
    if (known) return known;
    // Begun here: of an attempt of its own BullMQ takes the first failure for the last word, and never works again.
    if (this.producer.status === 'wait') this.producer.connect().catch(() => undefined);
    const opened = new Queue<Job>(queue, { connection: this.producer, prefix: this.prefix, skipVersionCheck: true });
    // The connection reports by itself.
    opened.on('error', () => undefined);
    this.queues.set(queue, opened);
    return opened;
  }
}

/** BullMQ waits for its connection as long as it takes. */
const answered = async <Value>(answer: Promise<Value>): Promise<Value> => {
  const silence = new AbortController();
  const timeout = delay(ADD_TIMEOUT_MS, undefined, { signal: silence.signal, ref: false }).then(() => {
    throw new JobQueueUnavailable('Redis did not answer in time');
  });
  try {
    return await Promise.race([answer, timeout]);
  } catch (error) {
    throw error instanceof JobQueueUnavailable ? error : new JobQueueUnavailable('Redis refused', { cause: error });
  } finally {
    silence.abort();
    timeout.catch(() => undefined);
    answer.catch(() => undefined);
  }
};

interface Lane {
  readonly queue: QueueName;
  readonly concurrency: number;
  readonly watchIntervalMs: number;
}

/**
 * Takes jobs of one queue, and watches itself: a worker that is connected, has room and takes nothing while jobs wait is
 * not taking any more, and is replaced by a new one on new connections.
 */
class BullConsumer implements JobConsumer {
  private readonly running = new Set<Promise<void>>();
  private readonly watch: NodeJS.Timeout;
  private taken = 0;
  private takenBefore = 0;
  private hadWaiting = false;
  private isLooking = false;
  private isClosing = false;
  private taker: Taker;

  /** @param handler never throws */
  constructor(
    private readonly endpoint: RedisEndpoint,
    private readonly prefix: string,
    private readonly lane: Lane,
    private readonly handler: Handler,
  ) {
    this.taker = this.newTaker();
    this.watch = setInterval(() => void this.lookOnce(), lane.watchIntervalMs);
    this.watch.unref();
  }

  async close(): Promise<void> {
    this.isClosing = true;
    clearInterval(this.watch);
    const closed = this.taker.worker.close().catch(() => undefined);
    await Promise.all(this.running);
    await atMost(CLOSING_TIMEOUT_MS, closed);
    await this.letGo(this.taker);
  }

  private newTaker(): Taker {
    const { queue, concurrency } = this.lane;
    // A blocking command is answered after five seconds at the latest (BullMQ's own default).
    // Not lazy, nor is BullMQ's second connection then: it would take a first attempt that fails for the last word.
    const connection = connectRedis(this.endpoint, `jobs ${queue}`, { lazyConnect: false, maxRetriesPerRequest: null });
    const worker = new Worker<Partial<Job> | null>(queue, ({ data }) => this.take(data?.id), {
      connection,
      prefix: this.prefix,
      concurrency,
      skipVersionCheck: true,
      // A job whose worker was killed is not given to another one: the sweeper alone says what becomes of it.
      maxStalledCount: 0,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    // The connection reports by itself; jobs never fail here.
    worker.on('error', () => undefined);
    return { worker, connection };
  }

  private async take(id: unknown): Promise<void> {
    this.taken += 1;
    // Whoever else writes to that Redis.
    if (typeof id !== 'string') return;
    const job = this.handler(id).finally(() => this.running.delete(job));
    this.running.add(job);
    await job;
  }

  /** Not beside another look: those that a server answers all at once, because it hung, would each see the same jobs wait. */
  private async lookOnce(): Promise<void> {
    if (this.isLooking) return;
    this.isLooking = true;
    await this.look().finally(() => (this.isLooking = false));
  }

  private async look(): Promise<void> {
    const { connection } = this.taker;
    const hasRoom = this.running.size < this.lane.concurrency;
    const waits = connection.status === 'ready' && hasRoom && (await this.hasWaiting(connection));
    const tookNone = this.taken === this.takenBefore;
    const isStuck = waits && this.hadWaiting && tookNone && !this.isClosing;
    this.takenBefore = this.taken;
    this.hadWaiting = waits && !isStuck;
    if (!isStuck) return;
    this.endpoint.log.warn('jobs wait and are not taken; the worker of the queue is replaced', {
      queue: this.lane.queue,
    });
    const stuck = this.taker;
    this.taker = this.newTaker();
    await this.letGo(stuck);
  }

  private async hasWaiting(connection: Redis): Promise<boolean> {
    const waiting = await connection.llen(`${this.prefix}:${this.lane.queue}:wait`).catch(() => 0);
    return waiting > 0;
  }

  private async letGo({ worker, connection }: Taker): Promise<void> {
    // What runs in it goes on, and is waited for here.
    worker.close(true).catch(() => undefined);
    await closeRedis(connection);
  }
}

interface Taker {
  readonly worker: Worker<Partial<Job> | null>;
  readonly connection: Redis;
}
