/**
 * One for each kind of work that a worker takes; jobs carry ids only, so a queue that forgets everything loses nothing.
 * `execute` rings for accepted calls. The others keep the same promises, for work that a worker so far finds by itself.
 */
export const QUEUE_NAMES = ['execute', 'witness', 'webhooks', 'mail', 'sweeps'] as const;
export type QueueName = (typeof QUEUE_NAMES)[number];

/**
 * Hands work to a worker soon. At most a bell: every job can be found again from the log by a sweeper, may be delivered
 * twice and may be lost, so handlers claim their work in the event store first.
 */
export abstract class JobQueue {
  abstract add(queue: QueueName, id: string): Promise<void>;
  /** How many jobs wait, in all queues. */
  abstract depth(): Promise<number>;
  /** Runs at most `concurrency` handlers at once. A handler that throws is reported, not repeated. */
  abstract process(queue: QueueName, concurrency: number, handler: (id: string) => Promise<void>): JobConsumer;
}

export interface JobConsumer {
  /** Takes no new work and waits for what is under way. */
  close(): Promise<void>;
}
