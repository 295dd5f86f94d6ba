export { BuildFacts, packageRoot, readBuildFacts } from './build-facts.js';
export { compileSooner } from './compile-sooner.js';
export { GatheredCalls, type GatheredCallsOptions } from './gathered-calls.js';
export { InProcessBus } from './in-process-bus.js';
export { InProcessJobQueue } from './in-process-job-queue.js';
export { programFile } from './programs.js';
export { reportedJob } from './reported-job.js';
export { SystemClock } from './system-clock.js';
export { SystemRandomness } from './system-randomness.js';
