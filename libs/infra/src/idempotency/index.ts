export {
  type ClaimedKey,
  type FinishedRequest,
  IdempotencyStore,
  REMEMBERED_MS,
  type StoredAnswer,
} from './idempotency-store.js';
