import type { Logger, Meter, QueueName } from '#libs/domain/kernel';

type Handler = (id: string) => Promise<void>;

/**
 * Wraps a handler so that it never throws: the result of each job is counted, and a failure is logged and not repeated.
 */
export const reportedJob =
  (queue: QueueName, handler: Handler, log: Logger, meter: Meter): Handler =>
  async (id) => {
    try {
      await handler(id);
      meter.jobEnded(queue, 'done');
    } catch (error) {
      meter.jobEnded(queue, 'error');
      log.error('a job failed; it is left to the sweeper', { queue, id, error });
    }
  };
