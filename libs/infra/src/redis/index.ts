export { BullJobQueue, JobQueueUnavailable } from './bull-job-queue.js';
export { RedisBus } from './redis-bus.js';
export { redisFaultOf, type RedisFault } from './redis-fault.js';
