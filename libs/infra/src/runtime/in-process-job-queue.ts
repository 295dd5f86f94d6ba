import { type JobConsumer, JobQueue, type Logger, type Meter, NO_METER, type QueueName } from '#libs/domain/kernel';
import { reportedJob } from './reported-job.js';

type Handler = (id: string) => Promise<void>;

/** Sweepers find every job again, so under a flood the oldest jobs are dropped rather than filling the memory. */
const MAX_WAITING_JOBS = 100_000;

/** Jobs of one process, for the embedded profile. A job that is already waiting is not added again. */
export class InProcessJobQueue extends JobQueue {
  private readonly lanes = new Map<QueueName, Lane>();

  constructor(
    private readonly log: Logger,
    private readonly meter: Meter = NO_METER,
    private readonly maxWaiting = MAX_WAITING_JOBS,
  ) {
    super();
  }

  add(queue: QueueName, id: string): Promise<void> {
    const lane = this.lane(queue);
    lane.waiting.add(id);
    if (lane.waiting.size > this.maxWaiting) {
      const oldest = lane.take();
      this.log.warn('a queue is full; the oldest job is left to the sweeper', { queue, id: oldest });
    }
    lane.wake();
    return Promise.resolve();
  }

  depth(): Promise<number> {
    return Promise.resolve([...this.lanes.values()].reduce((sum, { waiting }) => sum + waiting.size, 0));
  }

  process(queue: QueueName, concurrency: number, handler: Handler): JobConsumer {
    const lane = this.lane(queue);
    const consumer = new Consumer(lane, concurrency, reportedJob(queue, handler, this.log, this.meter));
    lane.consumers.add(consumer);
    consumer.wake();
    return consumer;
  }

  private lane(queue: QueueName): Lane {
    const lane = this.lanes.get(queue) ?? new Lane();
    this.lanes.set(queue, lane);
    return lane;
  }
}

class Lane {
  /** The ids of the waiting jobs, in order of arrival. */
  readonly waiting = new Set<string>();
  readonly consumers = new Set<Consumer>();

  take(): string | undefined {
    const [id] = this.waiting;
    if (id !== undefined) this.waiting.delete(id);
    return id;
  }

  wake(): void {
    for (const consumer of this.consumers) consumer.wake();
  }
}

class Consumer implements JobConsumer {
  private readonly running = new Set<Promise<void>>();

  constructor(
    private readonly lane: Lane,
    private readonly concurrency: number,
    /** The handler of {@link reportedJob}, which never throws. */
    private readonly handler: Handler,
  ) {}

  wake(): void {
    while (this.running.size < this.concurrency && this.lane.consumers.has(this)) {
      const id = this.lane.take();
      if (id === undefined) return;
      const job = this.run(id).finally(() => {
        this.running.delete(job);
        this.wake();
      });
      this.running.add(job);
    }
  }

  async close(): Promise<void> {
    this.lane.consumers.delete(this);
    await Promise.all(this.running);
  }

  private async run(id: string): Promise<void> {
    // The caller of `add` finishes its own turn first, as with a queue on the network.
    await Promise.resolve();
    await this.handler(id);
  }
}
