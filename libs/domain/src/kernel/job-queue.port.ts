/**
 * One queue for each kind of work. Jobs carry ids only, and a worker finds the same work without the queue, so a queue
 * that loses its jobs loses no work. `execute` announces accepted calls, and `webhooks` endpoints with deliveries that
 * are due.
 */
export const QUEUE_NAMES = ['execute', 'webhooks'] as const;
export type QueueName = (typeof QUEUE_NAMES)[number];

/**
 * Hands work to a worker soon. A job is only a hint: it may be delivered twice or be lost, and a sweeper can find all
 * work again from the log. So handlers claim their work in the event store first.
 */
export abstract class JobQueue {
  abstract add(queue: QueueName, id: string): Promise<void>;
  /** The number of waiting jobs in all queues. */
  abstract depth(): Promise<number>;
  /** Runs at most `concurrency` handlers at once. A handler that throws is reported, not repeated. */
  abstract process(queue: QueueName, concurrency: number, handler: (id: string) => Promise<void>): JobConsumer;
}

export interface JobConsumer {
  /** Takes no new work and waits for what is under way. */
  close(): Promise<void>;
}
