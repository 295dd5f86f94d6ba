export { BullJobQueue, JobQueueUnavailable } from './bull-job-queue.js';
export { RedisBus } from './redis-bus.js';
