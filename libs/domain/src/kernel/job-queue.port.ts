/** Queues of architecture.md; jobs carry ids only, so a queue that forgets everything loses nothing. */
export type QueueName = 'execute';

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
