import type { Logger, Meter, QueueName } from '#libs/domain/kernel';

type Handler = (id: string) => Promise<void>;

/** A handler that never throws: what came of a job is counted, and a failure is told once, not repeated. */
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
