export { newClaim } from './new-claim.js';
export { patiently, STORE_PATIENCE_MS } from './patiently.js';
export { executedBy, SendBarrier, type Sending } from './send-barrier.js';
export { isHeldByBreaker, tripBreaker } from './trip-breaker.js';
