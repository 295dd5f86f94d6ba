export {
  type Claim,
  type ClaimedKey,
  type ClaimRequest,
  type FinishedRequest,
  IdempotencyStore,
  type KeyScope,
  REMEMBERED_MS,
  type StoredAnswer,
} from './idempotency-store.js';
export { installIdempotencySchema } from './install-schema.js';
